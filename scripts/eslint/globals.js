/** Global names that library code must not use, and why. Options of the core rule no-restricted-globals. */

const restrict = (names, message) => names.map((name) => ({ name, message }));

/** Typed by TypeScript's ES library, but nil (or another thing) in Lua. */
const ABSENT_IN_LUA = restrict(
  // prettier-ignore
  ["ArrayBuffer", "Atomics", "BigInt", "Boolean", "DataView", "Date", "Float32Array", "Float64Array", "Int32Array",
    "Intl", "JSON", "Promise", "Proxy", "Reflect", "RegExp", "SharedArrayBuffer", "Symbol", "Uint16Array",
    "Uint32Array", "Uint8Array", "decodeURIComponent", "encodeURIComponent", "eval", "globalThis", "structuredClone"],
  "Not there in compiled Lua.",
);

const NGINX_ONLY = restrict(
  // prettier-ignore
  ["collectgarbage", "coroutine", "debug", "dofile", "io", "jit", "loadfile", "ngx", "os", "package", "print", "require"],
  "Only ts-src/resty/ax/nginx/ may touch nginx and the system: call a wrapper from there.",
);

const LUA_ONLY = restrict(
  // prettier-ignore
  ["$multi", "$range", "$vararg", "LuaMap", "LuaMultiReturn", "LuaSet", "LuaTable", "_G", "bit", "error", "getmetatable",
    "ipairs", "loadstring", "math", "next", "pairs", "pcall", "rawequal", "rawget", "rawset", "select", "setfenv",
    "setmetatable", "string", "table", "tonumber", "tostring", "type", "unpack", "xpcall"],
  "core/ also runs as JavaScript, which does not have this.",
);

export const inLibrary = [...ABSENT_IN_LUA, ...NGINX_ONLY];
export const inNginx = ABSENT_IN_LUA;
export const inCore = [...ABSENT_IN_LUA, ...NGINX_ONLY, ...LUA_ONLY];
