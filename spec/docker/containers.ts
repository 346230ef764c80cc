/** Containers for specs: the images, the nodes, and how to talk to a gateway. */
import { execFileSync } from "node:child_process";
import { GenericContainer, type StartedNetwork, type StartedTestContainer, Wait } from "testcontainers";
import { onTestFinished } from "vitest";
import { http } from "../../ts-src/node/testkit";
import { ROOT } from "../../ts-src/node/testkit/workdir";

/** Set by scripts/test where there is no engine: the specs are counted as skipped then. */
export const WITHOUT_DOCKER = process.env.AX_WITHOUT_DOCKER === "1";

export const IMAGE = "lua-resty-ax:0.1.0";

/** The library in the image. */
export const HOME = "/opt/lua-resty-ax";

/** @throws Error when scripts/with-docker did not prepare an engine */
export function baseImage(): string {
  const base = process.env.BASE_IMAGE;
  if (base === undefined) throw new Error("no Docker engine was prepared: run `make test-docker`");
  return base;
}

/** Where the image's nginx has its things. */
export interface Layout {
  conf_dir: string;
  log_dir: string;
  pid_path: string;
  /** Directories that nginx writes to. */
  writable: string[];
  /** Whether nginx tells its servers by ngx.upstream; else its configuration is read. */
  has_upstream_api: boolean;
}

const DEBIAN: Layout = {
  conf_dir: "/etc/nginx",
  log_dir: "/var/log/nginx",
  pid_path: "/run/nginx.pid",
  writable: ["/run", "/var/lib/nginx", "/var/log/nginx"],
  has_upstream_api: false,
};

/** The prefix of OpenResty's packages and images. */
const OPENRESTY_PREFIX = "/usr/local/openresty/nginx";
const OPENRESTY_TEMP_DIRS = ["client_body_temp", "proxy_temp", "fastcgi_temp", "uwsgi_temp", "scgi_temp"];

const OPENRESTY: Layout = {
  conf_dir: `${OPENRESTY_PREFIX}/conf`,
  log_dir: `${OPENRESTY_PREFIX}/logs`,
  pid_path: `${OPENRESTY_PREFIX}/logs/nginx.pid`,
  writable: ["logs", ...OPENRESTY_TEMP_DIRS].map((dir) => `${OPENRESTY_PREFIX}/${dir}`),
  has_upstream_api: true,
};

/** What the built image is made from, by what is in it. */
export function layoutOfImage(): Layout {
  const look = "command -v openresty >/dev/null && echo openresty || echo debian";
  return docker("run", "--rm", "--network", "none", IMAGE, "sh", "-c", look) === "openresty" ? OPENRESTY : DEBIAN;
}

let built: Promise<unknown> | undefined;

/** Builds the image from the Dockerfile on $BASE_IMAGE; the engine's cache makes the second time short. */
export async function buildImage(): Promise<void> {
  built ??= GenericContainer.fromDockerfile(ROOT, "docker/Dockerfile")
    .withBuildArgs({ BASE_IMAGE: baseImage() })
    .withTarget("gateway")
    .build(IMAGE, { deleteOnExit: false });
  await built;
}

export interface NodeContainer {
  name: string;
  container: StartedTestContainer;
  /** Requests that it served since it was started. */
  requests(): Promise<number>;
  /** kill -9 of all that is in the container. */
  kill(): void;
  /** Starts the container again and waits until it serves. */
  restart(): Promise<void>;
  /** Its address in the network, which may be another one after a restart. */
  ip(): string;
}

/** Runs the docker command. */
export function docker(...args: string[]): string {
  return execFileSync("docker", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

/** A node of the demo, known in the network by its name. */
export async function startNode(network: StartedNetwork, name: string, p99_ms: number): Promise<NodeContainer> {
  const container = await new GenericContainer(IMAGE)
    .withNetwork(network)
    .withNetworkAliases(name)
    .withEnvironment({ NAME: name, P99_MS: String(p99_ms) })
    .withCommand(["demo-node"])
    .withExposedPorts(8080, 8081)
    .withWaitStrategy(Wait.forHttp("/", 8081))
    .start();
  const id = container.getId();
  const inspect = (format: string): string => docker("inspect", "-f", format, id);
  let port = container.getMappedPort(8081);
  const control = async (): Promise<{ counters: { requests: number } }> => {
    return JSON.parse((await http(`http://127.0.0.1:${port}/`)).text) as { counters: { requests: number } };
  };
  return {
    name,
    container,
    requests: async () => (await control()).counters.requests,
    kill: () => void docker("kill", id),
    restart: async () => {
      docker("start", id);
      // Docker may publish another port now.
      port = Number(inspect('{{(index (index .NetworkSettings.Ports "8081/tcp") 0).HostPort}}'));
      for (let tries = 0; ; tries++) {
        try {
          return void (await control());
        } catch (error) {
          if (tries > 100) throw error;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      }
    },
    ip: () => inspect(`{{(index .NetworkSettings.Networks "${network.getName()}").IPAddress}}`),
  };
}

/** Where the gateway's port 8080 is on this machine. */
export function urlOf(gateway: StartedTestContainer): string {
  return `http://127.0.0.1:${gateway.getMappedPort(8080)}`;
}

export interface Load {
  sent: number;
  /** Answers other than 200, and requests without an answer. */
  failed: string[];
}

/** Sends requests, `at_a_time` at once, until told to stop, or until the test is over. */
export function startLoad(url: string, at_a_time = 8): { soFar: Load; stop(): Promise<Load> } {
  const load: Load = { sent: 0, failed: [] };
  let running = true;
  const client = async (): Promise<void> => {
    while (running) {
      load.sent++;
      await http(url, { timeout_ms: 20_000 }).then(
        (answer) => answer.status === 200 || load.failed.push(String(answer.status)),
        (error: unknown) => load.failed.push(String(error)),
      );
    }
  };
  const clients = Array.from({ length: at_a_time }, client);
  const stop = async (): Promise<Load> => {
    running = false;
    await Promise.all(clients);
    return load;
  };
  onTestFinished(async () => void (await stop()));
  return { soFar: load, stop };
}
