import { execFileSync, spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort, http, type HttpAnswer, waitFor } from "../../ts-src/node/testkit";
import { which } from "../../ts-src/node/testkit/nginx";
import { ROOT } from "../../ts-src/node/testkit/workdir";
import type { Status } from "../e2e/support";
import { baseImage, WITHOUT_DOCKER } from "./containers";

/** Debian 12 has the command of Compose 1.29, newer ones also the plugin: the file has to suit both. */
const COMPOSE = which("docker-compose") === undefined ? ["docker", "compose"] : ["docker-compose"];
const PROJECT = "ax-spec";

/** One row of the table: name, QPS, P50, P99, P99.9, errors, share. */
const ROW = /^(nginx|ax) (\w+(?: \w+)?) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +(\d+) +([\d.]+) %$/;

describe.skipIf(WITHOUT_DOCKER)("docker-compose.yml", () => {
  let port: number;

  /** Runs Compose; its output, with what it said of failures. */
  const compose = (...args: string[]): string => {
    const [program, ...words] = [...COMPOSE, "-p", PROJECT, ...args];
    const env = { ...process.env, BASE_IMAGE: baseImage(), PORT: String(port), MEASURE_S: "2", WARM_UP_S: "1" };
    const run = spawnSync(program, words, { cwd: ROOT, env, encoding: "utf8" });
    if (run.status !== 0) throw new Error(`${[program, ...words].join(" ")}:\n${run.stdout}${run.stderr}`);
    return run.stdout;
  };

  beforeAll(async () => {
    port = await freePort();
    compose("up", "-d", "--build");
  });

  afterAll(() => void compose("down", "--timeout", "2"));

  it("brings up a gateway with six nodes, published on loopback only", async () => {
    // `up -d` returns when the containers run; a gateway that only just does resets connections.
    const get = (): Promise<HttpAnswer | undefined> =>
      http(`http://127.0.0.1:${port}/ax/v1/upstreams`).catch(() => undefined);
    const answer = await waitFor("the gateway to serve", get, 60_000);
    const { upstreams, faults } = JSON.parse(answer.text) as Status;
    expect(faults).toEqual({});
    expect(upstreams[0].nodes).toHaveLength(6);
    expect((await http(`http://127.0.0.1:${port}/`)).status).toBe(200);
    const published = execFileSync("docker", ["ps", "--format", "{{.Ports}}"], { encoding: "utf8" });
    expect(published).toContain(`127.0.0.1:${port}->8080/tcp`);
    expect(published).not.toContain("0.0.0.0:");
  });

  it("runs as nobody's account on a read-only file system, without capabilities", () => {
    const look = "id -u; touch /opt/x /etc/x 2>&1; grep CapEff /proc/1/status";
    const [uid, opt, etc, capabilities] = compose("exec", "-T", "gateway", "bash", "-c", look).split("\n");
    expect(uid).toBe("10001");
    for (const refusal of [opt, etc]) expect(refusal).toContain("Read-only file system");
    expect(capabilities).toMatch(/\b0+$/);
  });

  it("compares the gateways by `run --rm wrk`", () => {
    const output = compose("run", "--rm", "-T", "wrk");
    const rows = output.split("\n").flatMap((line) => {
      const match = ROW.exec(line.trim());
      return match === null ? [] : [{ name: `${match[1]} ${match[2]}`, errors: match[7], share: Number(match[8]) }];
    });
    expect(
      rows.map(({ name }) => name),
      output,
    ).toEqual(["nginx round robin", "nginx least_conn", "ax round_robin", "ax least_conn", "ax adaptive"]);
    expect(rows.map(({ errors }) => errors)).toEqual(["0", "0", "0", "0", "0"]);
    const shareOf = (name: string): number => rows.find((row) => row.name === name)!.share;
    expect(shareOf("nginx round robin")).toBeGreaterThan(15);
    expect(shareOf("ax adaptive")).toBeLessThan(shareOf("nginx round robin") / 2);
  });
});
