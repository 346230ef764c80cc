import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../ts-src/node/testkit/workdir";

/** Runs a program that may use the test kit's child.ts. */
function run(body: string): { stdout: string; stderr: string; signal: string | null } {
  const program = `
    const { writeSync } = await import("node:fs");
    const { onUncleanExit } = await import("./ts-src/node/testkit/child.ts");
    ${body}`;
  const args = ["--import", "tsx", "--input-type=module", "-e", program];
  return spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
}

describe("what is done when a signal ends the program", () => {
  for (const signal of ["SIGINT", "SIGTERM"]) {
    it(`is done to the end, also when ${signal} comes twice`, () => {
      const { stdout, signal: ended_by } = run(`
        onUncleanExit(() => {
          process.kill(process.pid, "${signal}");
          writeSync(1, "first ");
        });
        onUncleanExit(() => writeSync(1, "second"));
        process.kill(process.pid, "${signal}");
        setInterval(() => {}, 1000);`);
      expect(stdout).toBe("first second");
      expect(ended_by).toBe(signal);
    });
  }

  it("is done also when a part of it fails", () => {
    const { stdout, stderr, signal } = run(`
      onUncleanExit(() => {
        throw new Error("on purpose");
      });
      onUncleanExit(() => writeSync(1, "second"));
      process.kill(process.pid, "SIGINT");
      setInterval(() => {}, 1000);`);
    expect(stdout).toBe("second");
    expect(stderr).toContain("on purpose");
    expect(signal).toBe("SIGINT");
  });
});
