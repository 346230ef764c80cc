import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../ts-src/node/testkit/workdir";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

it("dist.ini has the keys that opm asks for, this version, and paths that exist", () => {
  const keys = Object.fromEntries(
    read("dist.ini")
      .trim()
      .split("\n")
      .map((line) => line.split(/ = (.*)/, 2)),
  ) as Record<string, string>;
  for (const key of ["name", "abstract", "author", "license", "is_original"])
    expect(keys[key], key).not.toBe(undefined);
  const { name, version, license } = JSON.parse(read("package.json")) as Record<string, string>;
  expect(keys).toMatchObject({ name, version, license: license.toLowerCase() });
  expect(read("ts-src/resty/ax.ts")).toContain(`_VERSION = "${version}"`);
  for (const key of ["lib_dir", "doc_dir", "main_module"]) expect(existsSync(join(ROOT, keys[key])), key).toBe(true);
  expect(keys["main_module"]).toBe(`${keys["lib_dir"]}/resty/ax.lua`);
});
