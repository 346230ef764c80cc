import { describe, expect, it } from "vitest";
import { readSuite, totalLine } from "../../scripts/test-summary";

const counts = (passed: number, failed: number, skipped = 0): string =>
  JSON.stringify({ passed, failed, skipped, duration_s: 1.5 });

const vitest = (passed: number, failed: number, files: { status: string; tests: number }[]): string =>
  JSON.stringify({
    numPassedTests: passed,
    numFailedTests: failed,
    numPendingTests: 1,
    numTodoTests: 1,
    startTime: 1000,
    testResults: files.map(({ status, tests }, i) => ({
      name: `file${i}`,
      status,
      startTime: 1000,
      endTime: 3000,
      assertionResults: new Array(tests).fill({}),
    })),
  });

describe("a suite's result", () => {
  it("is what the runner counted", () => {
    expect(readSuite("lua", counts(7, 2, 1), 2)).toEqual({
      suite: "lua",
      passed: 7,
      failed: 2,
      skipped: 1,
      duration_s: 1.5,
      problem: "",
    });
  });

  it("is read from vitest's report", () => {
    const result = readSuite("node", vitest(5, 1, [{ status: "failed", tests: 8 }]), 1);
    expect(result).toEqual({ suite: "node", passed: 5, failed: 1, skipped: 2, duration_s: 2, problem: "" });
  });

  it("counts a vitest file that did not load as failed", () => {
    const files = [
      { status: "passed", tests: 3 },
      { status: "failed", tests: 0 },
    ];
    const result = readSuite("node", vitest(3, 0, files), 1);
    expect(result).toMatchObject({ passed: 3, failed: 1, problem: "did not run: file1" });
  });

  it("is a failure when the runner wrote nothing", () => {
    expect(readSuite("lua", undefined, 139)).toMatchObject({ passed: 0, failed: 1 });
    expect(readSuite("lua", undefined, undefined)).toMatchObject({ passed: 0, failed: 1 });
  });

  it("is a failure when the runner's report is cut short", () => {
    expect(readSuite("node", '{"numPassedTests": 3', 1)).toMatchObject({ passed: 0, failed: 1 });
  });

  it("is a failure when all tests passed but the runner did not", () => {
    expect(readSuite("lua", counts(3, 0), 1)).toMatchObject({ passed: 3, failed: 1 });
    expect(readSuite("lua", counts(3, 0), undefined)).toMatchObject({ passed: 3, failed: 1 });
  });

  it("is a failure when no test ran", () => {
    expect(readSuite("lua", counts(0, 0), 0)).toMatchObject({
      passed: 0,
      failed: 1,
      problem: "ran no test, exit code 0",
    });
  });

  it("is zero for a suite that says it has none", () => {
    const none = JSON.stringify({ passed: 0, failed: 0, skipped: 0, duration_s: 0, none: true });
    expect(readSuite("docker", none, 0)).toMatchObject({ passed: 0, failed: 0 });
  });
});

describe("the last line", () => {
  it("adds up all suites", () => {
    expect(totalLine([readSuite("a", counts(3, 1), 1), readSuite("b", counts(4, 0), 0)])).toBe("7 passed, 1 failed");
  });

  it("tells of skipped tests only when there are some", () => {
    expect(totalLine([readSuite("a", counts(3, 0, 2), 0)])).toBe("3 passed, 0 failed, 2 skipped");
  });
});
