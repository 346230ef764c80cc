import { keyPath, type Problems, report } from "./problems";
import { isAbsent, showValue } from "./show";
import { suggest } from "./suggest";

/** The option `hash_key`: where a request's key is read from. */

/** What is taken, for messages. */
export const HASH_KEY_FORMS =
  '"$variable", "header:Name", "cookie:name", "arg:name", or in a Lua table a function that returns a string,';

/** What comes before the colon, and how nginx's variables for it begin. */
const KINDS = ["header", "cookie", "arg"];
const PREFIXES: Record<string, string> = { header: "http_", cookie: "cookie_", arg: "arg_" };

/** Beside letters, digits, "-" and "_": what may stand in the name of a cookie or an argument. */
const OTHER_CHARS = "!#%'*+.^`|~[]";

function isNameOf(kind: string, name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const char = name.charAt(i);
    const code = name.charCodeAt(i);
    const letter = (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
    const plain = letter || (code >= 48 && code <= 57) || char === "_";
    const more = kind !== "variable" && (char === "-" || (kind !== "header" && OTHER_CHARS.includes(char)));
    if (!plain && !more) return false;
  }
  return name !== "";
}

/** What a text names. */
export interface KeySource {
  /** nginx variable, without "$"; absent when the text is wrong. */
  variable?: string;
  /** What is wrong with it, to be read after the quoted text. */
  wrong?: string;
}

/** Reads a source given as text. */
export function parseKeySource(text: string): KeySource {
  if (text.startsWith("$")) {
    const name = text.slice(1);
    return isNameOf("variable", name) ? { variable: name.toLowerCase() } : { wrong: "is not the name of a variable" };
  }
  const colon = text.indexOf(":");
  if (colon < 0) {
    const hint = isNameOf("variable", text) ? `; did you mean "$${text}"?` : "";
    return { wrong: `is not a source of keys; ${HASH_KEY_FORMS} is needed${hint}` };
  }
  const kind = text.slice(0, colon);
  const name = text.slice(colon + 1);
  if (!KINDS.includes(kind)) {
    const near = suggest(kind, KINDS);
    const hint = near === undefined ? "" : `; did you mean "${near}:${name}"?`;
    return { wrong: `is not a source of keys; ${HASH_KEY_FORMS} is needed${hint}` };
  }
  if (!isNameOf(kind, name)) return { wrong: `does not name ${kind === "arg" ? "an argument" : `a ${kind}`}` };
  const lower = name.toLowerCase();
  return { variable: PREFIXES[kind] + (kind === "header" ? lower.split("-").join("_") : lower) };
}

/** Checks `hash_key` of one upstream. */
export function checkHashKey(record: Record<string, unknown>, path: string, problems: Problems): void {
  const value = record["hash_key"];
  if (isAbsent(value) || typeof value === "function") return;
  const key_path = keyPath(path, "hash_key");
  if (typeof value !== "string") {
    report(problems, key_path, `${showValue(value)} is given; ${HASH_KEY_FORMS} is needed`);
    return;
  }
  const wrong = parseKeySource(value).wrong;
  if (wrong !== undefined) report(problems, key_path, `${showValue(value)} ${wrong}`);
}
