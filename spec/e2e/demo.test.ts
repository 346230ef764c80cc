import { execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { State } from "../../ts-src/node/demo/state";
import { http, isAlive, waitFor } from "../../ts-src/node/testkit";
import { childrenOf, workingDir } from "../../ts-src/node/testkit/proc";
import { ROOT, RUN_DIR } from "../../ts-src/node/testkit/workdir";

const dir = mkdtempSync(join(tmpdir(), "ax-demo-"));
const state_path = join(dir, "demo.json");
afterAll(() => rmSync(dir, { recursive: true }));

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command of the demo, with a state of its own: somebody's demo may be up. */
function demo(name: string, ...args: string[]): Promise<Ended> {
  const env = { ...process.env, AX_DEMO_STATE: state_path };
  const command = ["--import", "tsx", `ts-src/node/demo/${name}.ts`, ...args];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, command, { cwd: ROOT, env }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, stdout, stderr });
    });
  });
}

const readState = (): State => JSON.parse(readFileSync(state_path, "utf8")) as State;

describe("a demo that is left running", () => {
  test("serves until it is stopped, with all its files", async () => {
    const up = await demo("up", "--strategy", "p2c");
    expect(up).toMatchObject({ code: 0, stderr: "" });
    const state = readState();
    expect((await http(`${state.url}/`)).status).toBe(200);

    const again = await demo("up");
    expect(again.stdout).toContain(`It is up already.\ngateway   ${state.url}/\n`);
    expect(readState()).toEqual(state);
    const other = await demo("up", "--strategy", "adaptive");
    expect(other).toMatchObject({ code: 2, stdout: "" });
    expect(other.stderr).toBe(`up: it is up already, with strategy p2c at ${state.url}: stop it first (make down)\n`);

    const down = await demo("down");
    expect(down).toEqual({ code: 0, stdout: "stopped gateway, node1, node2, node3, node4, node5, slow\n", stderr: "" });
    expect(state.processes.filter(({ pid }) => isAlive(pid))).toEqual([]);
    expect(existsSync(state.dir)).toBe(false);
    expect(await demo("down")).toEqual({ code: 0, stdout: "nothing was running\n", stderr: "" });
  });

  test("is stopped with the workers of a gateway that was killed", async () => {
    await demo("up");
    const { processes } = readState();
    const [gateway] = processes;
    const workers = childrenOf(gateway.pid);
    expect(workers).toHaveLength(2);
    process.kill(gateway.pid, "SIGKILL");
    await waitFor("the gateway to end", () => !isAlive(gateway.pid));
    expect(workers.filter(isAlive)).toEqual(workers);

    expect((await demo("down")).stdout).toBe("stopped gateway, node1, node2, node3, node4, node5, slow\n");
    expect([...processes.map(({ pid }) => pid), ...workers].filter(isAlive)).toEqual([]);
  });

  test("is started anew when a part of it was killed", async () => {
    await demo("up");
    const before = readState();
    process.kill(before.processes[1].pid, "SIGKILL");
    await waitFor("the node to end", () => !isAlive(before.processes[1].pid));
    expect((await demo("up")).stdout).not.toContain("already");
    expect(before.processes.filter(({ pid }) => isAlive(pid))).toEqual([]);
    expect(existsSync(before.dir)).toBe(false);
    await demo("down");
  });
});

describe("a demo that is interrupted", () => {
  // Six nodes, one after the other; the gateway; wrk.
  const MOMENTS = { "while nodes start": 2, "under load": 8 };
  for (const [moment, children] of Object.entries(MOMENTS)) {
    test(`leaves neither processes nor files: ${moment}`, async () => {
      const command = ["--import", "tsx", "ts-src/node/demo/demo.ts", "--seconds", "60"];
      // A group of its own, as a terminal makes one: Ctrl-C goes to all of it.
      const child = spawn(process.execPath, command, { cwd: ROOT, detached: true, stdio: "ignore" });
      const ended = new Promise((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
      const pid = child.pid!;
      const started = await waitFor(
        "the demo to start its processes",
        () => {
          const pids = childrenOf(pid).filter((candidate) => workingDir(candidate).startsWith(RUN_DIR));
          return childrenOf(pid).length >= children && pids.length > 0 ? pids : undefined;
        },
        60_000,
      );
      const kit_dir = dirname(workingDir(started[0]));
      const all = childrenOf(pid).flatMap((candidate) => [candidate, ...childrenOf(candidate)]);
      process.kill(-pid, "SIGINT");
      process.kill(-pid, "SIGINT");
      expect(await ended).toBe("SIGINT");
      await waitFor("its processes to end", () => !all.some(isAlive));
      expect(existsSync(kit_dir)).toBe(false);
    });
  }
});
