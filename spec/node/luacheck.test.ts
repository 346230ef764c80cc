import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, it } from "vitest";

const REPO = resolve(import.meta.dirname, "../..");

/** Codes that luacheck reports for Lua text as if it stood in `file`. */
function check(file: string, lua: string): string[] {
  const args = ["--codes", "--no-color", "--formatter", "plain", "--filename", file, "-"];
  const { stdout, error } = spawnSync("luacheck", args, { cwd: REPO, input: `${lua}\n`, encoding: "utf8" });
  if (error) throw error;
  return [...stdout.matchAll(/\(([EW]\d{3})\)/g)].map((match) => match[1]);
}

const COMPILED = "lua-out/resty/ax/core/x.lua";

it.each([
  ["an undefined global in compiled Lua", COMPILED, "return JSON:stringify({})", "W113"],
  ["an undefined helper of the compiler", COMPILED, "return __TS__ArrayMap({}, print)", "W113"],
  ["a field that a standard library does not have", COMPILED, "return math.imul(3, 4)", "W143"],
  ["an accidental global in compiled Lua", COMPILED, "count = 1", "W111"],
  ["ngx outside nginx/", COMPILED, "return ngx.now()", "W113"],
  ["an accidental global in a spec", "spec/unit/x_spec.lua", "count = 1", "W111"],
  ["an unused variable in a spec", "spec/unit/x_spec.lua", "local count = 1", "W211"],
  ["an accidental global in nginx's Lua", "nginx/x.lua", "count = 1", "W111"],
])("luacheck reports %s", (_what, file, lua, code) => {
  expect(check(file, lua)).toContain(code);
});

it.each([
  ["the compiler's unused variables", COMPILED, "local ____exports = {}\nlocal a = 1\nreturn function(____) end"],
  ["ngx in nginx/", "lua-out/resty/ax/nginx/x.lua", "return ngx.now()"],
  ["LuaJIT's libraries", COMPILED, "return bit.band(1, 2), jit.version"],
  ["busted's functions in a spec", "spec/unit/x_spec.lua", "it('adds', function() assert.equal(2, 1 + 1) end)"],
])("luacheck accepts %s", (_what, file, lua) => {
  expect(check(file, lua)).toEqual([]);
});
