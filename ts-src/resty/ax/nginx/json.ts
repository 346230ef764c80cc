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

/** Stands for an empty array until the text is written: the cjson of some systems knows no empty arrays. */
const EMPTY_ARRAY = "\u0001ax:empty-array";

/** A list that `encodeDocument` writes as [] even when it is empty. */
export function jsonArray<T>(items: T[]): T[] {
  return items.length === 0 ? (EMPTY_ARRAY as unknown as T[]) : items;
}

/** As `encode`, for documents with lists made by `jsonArray`. */
export function encodeDocument(value: unknown): string | undefined {
  const text = encode(value);
  if (text === undefined) return undefined;
  const [written] = string.gsub(text, '"\\u0001ax:empty%-array"', "[]");
  return written;
}
