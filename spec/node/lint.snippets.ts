/** Code the linter must report, and code it must accept. Used by lint.test.ts. */
export interface Snippet {
  trap: string;
  /** Directory below ts-src/ that it stands in, or with * the start of its name: decides which rules apply. */
  at: string;
  code: string;
  /** The rule that must report it; none = clean. */
  rule?: string;
}

const LIB = "resty/ax";
/** A place where only the rules of the whole library apply. */
const ANY = `${LIB}/collector`;
const HOT_LAYERS = ["core", "phases", "dataplane", "nginx"];
const OUTSIDE_NGINX = ["core", "phases", "dataplane", "collector", "control", "observe"];
const PER_REQUEST = [`${LIB}/core/strategies`, `${LIB}/core/pool*`, `${LIB}/dataplane`, `${LIB}/phases`];

/** Statements of a function with something of every type in its parameters; all else stands as it is. */
function file(code: string): string {
  if (/^(import|export|\/\*)/.test(code)) return `${code}\n`;
  return `interface Rec { a: number }
export function f(xs: number[], s: string, n: number, maybe?: string, maybes?: string[], rec?: Rec): unknown {
  ${code}
}
export function cmp(a: number, b: number): number { return a - b; }
`;
}

const accept = (at: string, snippets: Record<string, string>): Snippet[] =>
  Object.entries(snippets).map(([trap, code]) => ({ trap: `${trap} (${at})`, at, code: file(code) }));

const report = (rule: string, at: string, snippets: Record<string, string>): Snippet[] =>
  accept(at, snippets).map((snippet) => ({ ...snippet, rule }));

export const SNIPPETS: Snippet[] = [
  // Values that mean something else in Lua.
  ...report("ax/no-unsigned-shift", ANY, {
    "unsigned shift": "return n >>> 0;",
    "unsigned shift by assignment": "n >>>= 1; return n;",
  }),
  ...report("@typescript-eslint/strict-boolean-expressions", ANY, {
    "number as condition": "if (n) return 1; return 2;",
    "length as condition": "return !xs.length;",
    "string with a default": 'return s || "default";',
    "optional string as condition": "return maybe ? 1 : 2;",
    "length as loop condition": "while (xs.length) xs.pop(); return n;",
  }),
  ...report("ax/string-length", ANY, {
    "length of an optional string": "return maybe?.length;",
    "length taken out of a string": "const { length } = s; return length;",
  }),
  ...report("eqeqeq", ANY, { "loose equality": "return n == 1;", "loose inequality": "return n != 1;" }),

  // Arrays.
  ...report("ax/inline-comparator", ANY, { "comparator by name": "xs.sort(cmp); return xs;" }),
  ...report("@typescript-eslint/require-array-sort-compare", ANY, {
    "numbers sorted as text": "xs.sort(); return xs;",
  }),
  ...report("ax/array-holes", ANY, {
    "undefined in an array": "return [s, maybe];",
    "null in an array": "return [n, null];",
    "undefined pushed": "const a: (string | undefined)[] = []; a.push(maybe); return a;",
    "undefined stored": "const a: (string | undefined)[] = []; a[n] = undefined; return a;",
    "array made by length": "return new Array<number>(n);",
  }),
  ...report("no-sparse-arrays", ANY, { "missing element": "return [n, , n];" }),
  ...report("@typescript-eslint/no-array-delete", ANY, { "deleted element": "delete xs[n]; return xs;" }),
  ...report("@typescript-eslint/no-for-in-array", ANY, { "for in": "for (const i in xs) s += i; return s;" }),

  // What Lua does not have, or has at a price.
  ...report("ax/no-map-set", ANY, { Map: "return new Map<string, number>();", Set: "return new Set(xs);" }),
  ...report("ax/no-class", ANY, { class: "export class Node {}" }),
  ...report("ax/no-coroutine", ANY, { async: "export async function f() {}", generator: "export function* f() {}" }),
  ...report("ax/no-regex", ANY, { "regular expression": "return s.split(/,/);" }),
  ...[ANY, `${LIB}/nginx`, `${LIB}/core`].flatMap((at) =>
    report("no-restricted-globals", at, {
      JSON: "return JSON.stringify(xs);",
      "Boolean()": "return Boolean(n);",
      "wall clock": "return Date.now();",
    }),
  ),
  ...[ANY, `${LIB}/nginx`, `${LIB}/core`, `${LIB}/dataplane`].flatMap((at) =>
    report("no-restricted-properties", at, { "Math.random": "return Math.random();" }),
  ),
  ...report("no-restricted-properties", `${LIB}/nginx`, { "math.random": "return math.random();" }),
  ...report("no-restricted-globals", `${LIB}/core`, {
    "Lua's string library": "return string.byte(s);",
    "Lua's error": "error(s);",
    "Lua's tables": "return new LuaTable<string, number>();",
  }),
  ...report("no-console", ANY, { console: "console.log(s); return s;" }),

  // The hot path.
  ...HOT_LAYERS.flatMap((layer) => [
    ...report("ax/no-switch", `${LIB}/${layer}`, { switch: "switch (n) { case 1: return s; default: return xs; }" }),
    ...report("ax/no-try", `${LIB}/${layer}`, { try: "try { return s; } catch { return xs; }" }),
  ]),
  ...PER_REQUEST.flatMap((at) =>
    report("ax/hot-loops", at, {
      map: "return xs.map((x) => x);",
      filter: "return xs.filter((x) => x > 1);",
      forEach: "xs.forEach((x) => { n += x; }); return n;",
      reduce: "return xs.reduce((a, x) => a + x);",
      "spread array": "return [...xs, n];",
      "spread arguments": "return Math.max(...xs);",
      "spread record": "return { ...rec, n };",
    }),
  ),

  // Layers.
  ...OUTSIDE_NGINX.flatMap((layer) => [
    ...report("no-restricted-globals", `${LIB}/${layer}`, {
      ngx: "return ngx.now();",
      io: "return io.open(s);",
      os: "return os.time();",
    }),
    ...report("ax/layers", `${LIB}/${layer}`, {
      ffi: 'import * as ffi from "ffi";\nexport const n = ffi.errno();',
      "a module of nginx": 'export * from "ngx.balancer";',
    }),
  ]),
  ...[
    ["resty/ax/core", "../nginx/clock"],
    ["resty/ax/core", "../../../node/demo"],
    ["resty/ax/core/strategies", "../../dataplane/pick"],
    ["resty/ax/nginx", "../observe/metrics"],
    ["resty/ax/observe", "../collector/merge"],
    ["resty/ax/collector", "../dataplane/pick"],
    ["resty/ax/dataplane", "../phases/log"],
    ["resty/ax/phases", "../../ax"],
    ["node", "../resty/ax/nginx/clock"],
  ].flatMap(([at, target]) => report("ax/layers", at, { [`import of ${target}`]: `export * from "${target}";` })),
  ...report("ax/layers", `${LIB}/utils`, { "a directory that is no layer": "export const n = 1;" }),

  // Everywhere.
  ...report("ax/disable-reason", ANY, {
    "rule off without a reason": "// eslint-disable-next-line eqeqeq\n  return n == 1;",
    "all rules off without a reason": "/* eslint-disable */\nexport const n = 1;",
  }),
  ...report("@typescript-eslint/no-floating-promises", "node", {
    "floating promise": "export async function f() {}\nexport const g = (): void => { f(); };",
  }),

  // The way out of each trap is not reported.
  ...accept(ANY, {
    "truth of an optional record": "return rec ? rec.a : 0;",
    "comparator in place": "xs.sort((a, b) => cmp(a, b)); return xs;",
    "length of an optional array": "return maybes?.length;",
    "length of a tested string": "return maybe === undefined ? 0 : maybe.length;",
    "signed shift": "return n >> 1;",
    "rule off with a reason": "// eslint-disable-next-line eqeqeq -- the snippet needs it\n  return n == 1;",
  }),
  ...accept(ANY, { map: "return xs.map((x) => x + 1);", "spread array": "return [...xs, n];" }),
  ...accept(`${LIB}/control`, { switch: "switch (n) { case 1: return s; default: return xs; }" }),
  ...accept(`${LIB}/nginx`, {
    ngx: "return ngx.now();",
    ffi: 'import * as ffi from "ffi";\nexport const n = ffi.errno();',
  }),
  ...accept(`${LIB}/phases/init*`, { map: "return xs.map((x) => x + 1);" }),
  ...accept(`${LIB}/phases`, { "import down the layers": 'export * from "../core/ok";' }),
  ...accept(`${LIB}/core`, { "plain loop": "for (let i = 0; i < xs.length; i++) n += xs[i]; return n;" }),
];
