import { expect, test } from "vitest";
import { checkCompiled } from "../../ts-src/node/bench/picks";
import { findLuajit } from "../../ts-src/node/testkit/luajit";

test("the benchmark's check of compiled paths says how many traces there were", async () => {
  expect(await checkCompiled(findLuajit(), ["random"])).toMatch(/^[1-9]\d* traces compiled, 0 aborted$/);
});
