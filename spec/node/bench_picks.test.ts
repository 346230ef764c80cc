import { expect, test } from "vitest";
import { checkCompiled, findLuajit } from "../../ts-src/node/bench/picks";

test("the benchmark's check of compiled paths says how many traces there were", async () => {
  expect(await checkCompiled(findLuajit(), ["random"])).toMatch(/^[1-9]\d* traces compiled, 0 aborted$/);
});
