import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort, waitFor } from "../../ts-src/node/testkit";
import { which } from "../../ts-src/node/testkit/nginx";
import { title } from "../../ts-src/node/testkit/proc";
import { newDir, removeDir, ROOT } from "../../ts-src/node/testkit/workdir";

interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command to its end. */
function run(command: string[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const [program, ...args] = command;
    const child = spawn(program, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const outcome: Outcome = { code: null, stdout: "", stderr: "" };
    child.stdout.on("data", (part: Buffer) => (outcome.stdout += part.toString()));
    child.stderr.on("data", (part: Buffer) => (outcome.stderr += part.toString()));
    child.once("error", reject);
    child.once("close", (code) => resolve({ ...outcome, code }));
  });
}

/** One of our programs, without make in front of it, which would install what is missing. */
const script = (path: string, ...args: string[]): string[] => [
  process.execPath,
  "--import",
  "tsx",
  join(ROOT, "ts-src", "node", path),
  ...args,
];

/** nginx processes of this tree's test kit. */
function kitProcesses(): string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => title(Number(pid)).includes(`${ROOT}/.build/run/`));
}

describe("one line says what to do, and nothing is left running, with", () => {
  let dir: string;
  const servers: Server[] = [];

  beforeAll(() => {
    dir = newDir("bad-input");
  });

  afterAll(() => {
    for (const server of servers) server.close();
    removeDir(dir);
  });

  /** A PATH with the programs that are used, but for `missing`. */
  function pathWithout(missing: string): string {
    const bin = join(dir, `without-${missing}`);
    mkdirSync(bin);
    for (const program of ["node", "sh", "bash", "env", "nginx", "openresty", "setpriv", "getconf", "wrk", "haproxy"]) {
      const found = which(program);
      if (program !== missing && found !== undefined) symlinkSync(found, join(bin, program));
    }
    return bin;
  }

  /** Somebody who listens, and says nothing. */
  async function listener(at: number | string): Promise<void> {
    const server = createServer(() => undefined);
    servers.push(server);
    const place = typeof at === "number" ? { port: at, host: "127.0.0.1" } : { path: at };
    await new Promise<void>((resolve) => server.listen(place, resolve));
  }

  async function expectOneLine(command: string[], env: NodeJS.ProcessEnv, line: RegExp, code = 1): Promise<void> {
    const before = kitProcesses();
    const outcome = await run(command, env);
    expect(outcome.stderr.trim()).toMatch(line);
    expect(outcome.stderr.trim().split("\n")).toHaveLength(1);
    expect(outcome.stdout).toBe("");
    expect(outcome.code).toBe(code);
    expect(kitProcesses().filter((pid) => !before.includes(pid))).toEqual([]);
  }

  it("wrk missing: the demo", () =>
    expectOneLine(
      script("demo/demo.ts"),
      { PATH: pathWithout("wrk") },
      /^demo: wrk is not installed: apt-get install wrk$/,
    ));

  it("haproxy missing: the benchmark", () =>
    expectOneLine(
      script("bench/bench.ts", "--scenario", "slow_node"),
      { PATH: pathWithout("haproxy") },
      /^bench: .*haproxy is not installed: apt-get install haproxy; or leave it out: make bench SKIP_MISSING=1$/,
      2,
    ));

  it("no nginx with Lua: the demo", () =>
    expectOneLine(
      script("demo/demo.ts"),
      { NGINX: "/nonexistent/nginx" },
      /^demo: no nginx with the Lua module \(\/nonexistent\/nginx: does not run\): install /,
    ));

  it("a port that is taken: make up", async () => {
    const port = await freePort();
    await listener(port);
    const state = join(dir, "state.json");
    await expectOneLine(
      script("demo/up.ts", "--port", String(port)),
      { AX_DEMO_STATE: state },
      new RegExp(`^up: port ${port} is taken: choose another one`),
    );
    expect(existsSync(state)).toBe(false);
  });

  it("a port that is none: make up", () =>
    expectOneLine(
      script("demo/up.ts", "--port", "http"),
      {},
      /--port.*'http' is invalid\. A whole number from 1 to 65535/,
    ));

  it("a strategy that is none: make up", async () => {
    const state = join(dir, "refused.json");
    await expectOneLine(
      script("demo/up.ts", "--strategy", "adaptve"),
      { AX_DEMO_STATE: state },
      /^up: no strategy "adaptve"; allowed are: .*; did you mean "adaptive"\?$/,
      2,
    );
    expect(existsSync(state)).toBe(false);
  });

  it("results that cannot be written: the simulator, before it simulates", () =>
    expectOneLine(
      script("sim/simulate.ts", "--html", "/dev/null/report.html"),
      {},
      /^simulate: cannot write \/dev\/null\/report\.html: (not a directory|file already exists)$/,
    ));

  it("two at once: one make up starts the demo, the other says so", async () => {
    const env = { AX_DEMO_STATE: join(dir, "two.json") };
    const before = kitProcesses();
    const outcomes = await Promise.all([run(script("demo/up.ts"), env), run(script("demo/up.ts"), env)]);
    const stopped = await run(script("demo/down.ts"), env);
    // On a busy machine the second one may come after the first is up.
    const losers = outcomes.filter(({ stdout }) => !stdout.includes("stop it"));
    for (const { stderr, code } of losers) {
      expect(stderr.trim()).toBe("up: another `make up` is starting: wait for it");
      expect(code).toBe(1);
    }
    expect(losers.length).toBeLessThan(2);
    expect(stopped.stdout).toMatch(/^stopped gateway, node1/);
    expect(kitProcesses().filter((pid) => !before.includes(pid))).toEqual([]);
  });

  it("Ctrl-C while make up starts: all that was started is stopped", async () => {
    const state = join(dir, "interrupted.json");
    const before = kitProcesses();
    const started = (): string[] => kitProcesses().filter((pid) => !before.includes(pid));
    const [program, ...args] = script("demo/up.ts");
    const child = spawn(program, args, { cwd: ROOT, env: { ...process.env, AX_DEMO_STATE: state }, stdio: "ignore" });
    const ended = new Promise<string | null>((resolve) => child.once("close", (_, signal) => resolve(signal)));
    await waitFor("the first node", () => started().length > 0);
    child.kill("SIGINT");
    expect(await ended).toBe("SIGINT");
    await waitFor("nothing to be left", () => started().length === 0);
    expect(existsSync(state)).toBe(false);
  });

  it("a port that is taken: make demo-docker", async () => {
    const port = await freePort();
    await listener(port);
    const line = new RegExp(
      `^demo-docker: port ${port} is taken: choose another one, e\\.g\\. PORT=\\d+ make demo-docker$`,
    );
    await expectOneLine([join(ROOT, "scripts", "demo-docker")], { PORT: String(port) }, line);
    await expectOneLine(
      [join(ROOT, "scripts", "demo-docker")],
      { PORT: "http" },
      /^demo-docker: PORT=http is not a port: 1 to 65535$/,
    );
  });

  it("a Docker engine that does not answer", async () => {
    const socket = join(newDir("ax", "/tmp"), "docker.sock");
    await listener(socket);
    const env = { DOCKER_HOST: `unix://${socket}`, PORT: String(await freePort()) };
    const line = /^with-docker: no Docker engine answers at DOCKER_HOST=unix:\/\/\S+: start it, or unset DOCKER_HOST$/;
    await expectOneLine([join(ROOT, "scripts", "demo-docker")], env, line, 77);
    removeDir(join(socket, ".."));
  });
});
