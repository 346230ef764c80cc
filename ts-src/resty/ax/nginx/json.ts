import * as cjson from "cjson.safe";

// An instance of our own: the shared one's settings belong to the user's code.
const json = cjson.new();
json.encode_sparse_array(true);

/** @returns undefined when the value cannot be written as JSON */
export function encode(value: unknown): string | undefined {
  return json.encode(value)[0];
}

/** @returns undefined and an error text when the text is not JSON */
export function decode(text: string): LuaMultiReturn<[unknown, string | undefined]> {
  return json.decode(text);
}
