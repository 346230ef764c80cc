import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { checkName, UsageError, wholeNumber } from "../../ts-src/node/cli/arguments";
import { checkWritable, replaceFile } from "../../ts-src/node/cli/files";
import { ROOT } from "../../ts-src/node/testkit/workdir";

const dir = mkdtempSync(join(tmpdir(), "ax-commands-"));
afterAll(() => rmSync(dir, { recursive: true }));

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs node with the TypeScript loader; demos that are up stay out of it. */
function node(args: string[]): Promise<Ended> {
  const env = { ...process.env, AX_DEMO_STATE: join(dir, "demo.json"), NO_COLOR: "1" };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ["--import", "tsx", ...args],
      { cwd: ROOT, env },
      (_error, stdout, stderr) => {
        resolve({ code: child.exitCode, stdout, stderr });
      },
    );
  });
}

const command = (name: string, ...args: string[]): Promise<Ended> => node([`ts-src/node/${name}.ts`, ...args]);

describe("a command that is asked for what it cannot do", () => {
  const file = (name: string, text: string): string => {
    const path = join(dir, name);
    writeFileSync(path, text);
    return path;
  };
  const options = "duration_s: 1\nupstream: { window_long: 3 }\n";
  const refused = file("refused.yaml", `description: x\nload: { rho: 0.5 }\nnodes: [{}]\n${options}`);
  const once = ["--seeds", "1", "--html", join(dir, "report.html")];
  const CASES: [what: string, args: string[], says: RegExp][] = [
    [
      "simulate: a strategy that there is not",
      ["sim/simulate", "--scenario", "homogeneous", "--strategy", "adaptive,lest_conn", ...once],
      /^simulate: no strategy "lest_conn"; allowed are: adaptive, .*; did you mean "least_conn"\?\n$/,
    ],
    [
      "simulate: a scenario with options that the library refuses",
      ["sim/simulate", "--scenario", refused, ...once],
      /^simulate: refused, adaptive: .*\n {2}1\. upstreams\.sim\.window_long: .*did you mean "window_long_s"\?\n$/,
    ],
    ["bench: a scenario that there is not", ["bench/bench", "--scenario", "x"], /^bench: no scenario "x"; .*\n$/],
  ];
  for (const [what, [name, ...args], says] of CASES) {
    it(`says so in a line: ${what}`, async () => {
      const { code, stdout, stderr } = await command(name, ...args);
      expect(stderr).toMatch(says);
      expect(stdout).toBe("");
      expect(code).toBe(2);
    });
  }

  it("does not take what it cannot read for what is up", async () => {
    writeFileSync(join(dir, "demo.json"), '{"processes":[]}');
    const { code, stderr } = await command("demo/down");
    expect(stderr).toMatch(/^down: .*demo\.json is damaged: remove it, .*\n$/);
    expect(code).toBe(1);
    rmSync(join(dir, "demo.json"));
  });
});

describe("a command whose output is lost", () => {
  const program = `
    const { runCommand } = await import("./ts-src/node/cli/command.ts");
    await runCommand("show", async () => {
      for (let line = 0; line < 20000; line++) process.stdout.write("a line of the result\\n");
      await new Promise((resolve) => setTimeout(resolve, 20000));
      process.stdout.write("too late");
    });`;
  const shell = (line: string): Promise<Ended> =>
    new Promise((resolve) => {
      const quoted = line.replaceAll("SHOW", `'${process.execPath}' --import tsx --input-type=module -e "$PROGRAM"`);
      const env = { ...process.env, PROGRAM: program };
      const child = execFile("bash", ["-c", quoted], { cwd: ROOT, env }, (_error, stdout, stderr) => {
        resolve({ code: child.exitCode, stdout, stderr });
      });
    });

  it("ends like one that is interrupted when nobody reads on", async () => {
    const { stdout, stderr } = await shell('SHOW | head -n 1; echo "${PIPESTATUS[0]}"');
    expect(stdout).toBe("a line of the result\n130\n");
    expect(stderr).toBe("");
  });

  it("says in a line that the disk is full", async () => {
    const { code, stderr } = await shell("SHOW >/dev/full");
    expect(stderr).toBe("show: cannot write the output: no space left on device\n");
    expect(code).not.toBe(0);
  });
});

describe("results in files", () => {
  it("are written whole or not at all, and a failure names file and reason", () => {
    const path = join(dir, "result");
    replaceFile(path, "whole");
    expect(readFileSync(path, "utf8")).toBe("whole");
    expect(() => replaceFile(join(path, "below"), "x")).toThrow(/^cannot write .*result\/below: not a directory$/);
    mkdirSync(join(dir, "taken"));
    expect(() => replaceFile(join(dir, "taken"), "x")).toThrow(/^cannot write .*taken: /);
    expect(readdirSync(dir).filter((name) => name.startsWith("taken"))).toEqual(["taken"]);
  });

  it("are tried before the work, and nothing is left of the trial", () => {
    const path = join(dir, "new", "directory", "result");
    checkWritable(path);
    expect(readdirSync(join(dir, "new", "directory"))).toEqual([]);
    writeFileSync(join(dir, "file"), "");
    expect(() => checkWritable(join(dir, "file", "result"))).toThrow(/^cannot write .*file\/result: /);
  });
});

describe("arguments", () => {
  it("are whole numbers within bounds, in digits", () => {
    const read = wholeNumber(1, 100);
    expect(read("1")).toBe(1);
    expect(read("100")).toBe(100);
    for (const text of ["0", "101", "", " ", "1e1", "0x10", "-1", "+1", "1.0", "ten", "1 2", "NaN", "Infinity"]) {
      expect(() => read(text), text).toThrow("A whole number from 1 to 100 is allowed.");
    }
  });

  it("are known names, or what there is is listed", () => {
    expect(() => checkName("colour", "red", ["red", "green"])).not.toThrow();
    expect(() => checkName("colour", "gren", ["red", "green"])).toThrow(UsageError);
    expect(() => checkName("colour", "gren", ["red", "green"])).toThrow(
      'no colour "gren"; allowed are: red, green; did you mean "green"?',
    );
  });
});
