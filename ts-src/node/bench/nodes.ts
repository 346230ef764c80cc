/** The nodes behind the gateways: backends of the test kit, or very many idle ones in one process. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Backend, freePort, http, type Kit } from "../testkit";
import { startServer } from "../testkit/server";
import { KIT_DIR, newDir, render } from "../testkit/workdir";
import { BENCH_DIR } from "./gateways";
import type { Scenario } from "./scenarios";

export interface Nodes {
  addresses: string[];
  /** Empty when they are many in one process. */
  backends: Backend[];
}

const MEMORY_MB = 4000;

/** 127.1.0.1, 127.1.0.2 … : loopback has 16 million addresses. */
const addressOf = (k: number): string => `127.1.${Math.floor(k / 250)}.${(k % 250) + 1}`;

async function startMany(kit: Kit, count: number): Promise<Nodes> {
  const port = await freePort();
  const addresses = Array.from({ length: count }, (_, k) => `${addressOf(k)}:${port}`);
  const dir = newDir("nodes", kit.dir);
  const conf = render(readFileSync(join(BENCH_DIR, "many.conf"), "utf8"), {
    kit_dir: KIT_DIR,
    listens: addresses.map((address) => `        listen ${address} backlog=1024;`).join("\n"),
  });
  const child = await startServer({
    dir,
    conf,
    memory_limit_mb: MEMORY_MB,
    isReady: () =>
      http(`http://${addresses[0]}/`, { timeout_ms: 2000 }).then(
        () => true,
        () => false,
      ),
  });
  kit.keep({ stop: () => child.stop("SIGTERM") });
  return { addresses, backends: [] };
}

/** Starts the scenario's nodes; `kit` stops them. */
export async function startNodes(kit: Kit, scenario: Scenario): Promise<Nodes> {
  if (typeof scenario.nodes === "number") return startMany(kit, scenario.nodes);
  const backends = await Promise.all(
    scenario.nodes.map((settings, k) => kit.backend({ name: `node${k + 1}`, seed: k + 1, settings })),
  );
  return { addresses: backends.map(({ address }) => address), backends };
}
