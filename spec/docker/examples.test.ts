import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { GenericContainer, type StartedTestContainer, Wait } from "testcontainers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitFor } from "../../ts-src/node/testkit";
import { EXAMPLES_DIR } from "../../ts-src/node/testkit/example";
import type { Status } from "../e2e/support";
import { buildImage, docker, HOME, IMAGE, type Layout, layoutOfImage, WITHOUT_DOCKER } from "./containers";

/** Authorities, which tls.conf asks for; the image has none. */
const CA_FILE = "/etc/ssl/certs/ca-certificates.crt";

/**
 * Starts nginx with file $0, prints the answer to a GET of $2 on port $1 (the image has no curl), and stops it; $3 is
 * where its pid is. In OpenResty's image the access log goes to standard output.
 */
const TRY = `set -e
nginx -c "$0" >/dev/null
exec 3<>/dev/tcp/127.0.0.1/$1
printf 'GET %s HTTP/1.0\\r\\n\\r\\n' "$2" >&3
cat <&3
nginx -c "$0" -s stop >/dev/null 2>&1
while [ -e "$3" ]; do sleep 0.05; done`;

/** Nothing at all is changed in the files here: they run where they say the library is, on the ports that they name. */
describe.skipIf(WITHOUT_DOCKER)("an example, byte for byte", () => {
  let container: StartedTestContainer;
  let layout: Layout;

  beforeAll(async () => {
    await buildImage();
    layout = layoutOfImage();
    container = await new GenericContainer(IMAGE)
      .withUser("root")
      .withNetworkMode("none")
      .withCopyFilesToContainer([{ source: CA_FILE, target: CA_FILE }])
      .withCommand(["bash", "-c", "echo ready; exec sleep infinity"])
      .withWaitStrategy(Wait.forLogMessage("ready"))
      .start();
  });

  afterAll(async () => void (await container.stop({ timeout: 0 })));

  it.each(readdirSync(EXAMPLES_DIR))("%s starts, and its API shows its nodes", (file) => {
    const port = ["grpc.conf", "api.conf"].includes(file) ? "8090" : "8080";
    const path = file === "api.conf" ? "/ax-status/v1/upstreams" : "/ax/v1/upstreams";
    const args = [`${HOME}/nginx/examples/${file}`, port, path, layout.pid_path];
    const answer = docker("exec", container.getId(), "bash", "-c", TRY, ...args);
    expect(answer).toContain(" 200 OK");
    const status = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n"))) as Status;
    expect(status.faults).toEqual({});
    for (const upstream of status.upstreams) expect(upstream.nodes.length).toBeGreaterThan(1);
  });

  it("runs as user 10001 on a read-only file system, with a tmpfs where nginx writes", async () => {
    const tmpfs = layout.writable.flatMap((dir) => ["--tmpfs", `${dir}:uid=10001`]);
    const command = ["nginx", "-c", `${HOME}/nginx/examples/drop_in.conf`, "-g", "daemon off;"];
    const id = docker(
      "run",
      "-d",
      "--network",
      "none",
      "--read-only",
      "--cap-drop",
      "ALL",
      ...tmpfs,
      IMAGE,
      ...command,
    );
    try {
      const healthy = ["exec", id, `${HOME}/docker/healthy`, "8080", "/ax/v1/upstreams"];
      const answers = (): boolean => spawnSync("docker", healthy).status === 0;
      await waitFor("the gateway to serve", answers, 30_000).catch((error: unknown) => {
        throw new Error(docker("logs", id), { cause: error });
      });
      expect(docker("exec", id, "id", "-u")).toBe("10001");
    } finally {
      docker("rm", "-f", id);
    }
  });
});
