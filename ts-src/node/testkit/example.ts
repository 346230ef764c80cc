import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Gateway } from "./gateway";
import type { Kit } from "./kit";
import { findNginx } from "./nginx";
import { freePort } from "./ports";
import { despitePortRaces } from "./server";
import { KIT_DIR, ROOT } from "./workdir";

/** Where the examples live. */
export const EXAMPLES_DIR = join(ROOT, "nginx", "examples");

/** Workers instead of `auto`: the same on every machine, and enough to show what workers share. */
const WORKERS = 2;

export interface ExampleOptions {
  /** Addresses of nodes in the file, and where those nodes really are. */
  nodes: Record<string, string>;
  /** Other words of the file that cannot hold here (paths of certificates), and what stands for them. */
  paths?: Record<string, string>;
  /** The port in the file that speaks HTTP/1.1: of the gateway's url, and of the API. 8080 by default. */
  port?: number;
}

export interface Example extends Gateway {
  /** The real port behind a `listen` of the file. */
  portOf(listen: number): number;
}

/** Replaces `from`, which must stand there as a word of its own, wherever it stands. */
function replaceWord(text: string, from: string, to: string): string {
  const word = new RegExp(`(?<![\\w.:-])${from.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w.])`, "g");
  if (!word.test(text)) throw new Error(`the example does not have ${from}`);
  return text.replace(word, () => to);
}

/**
 * An example's text with addresses and paths of this run; all else is the file as it is.
 * @param text the file
 * @param ports the file's `listen` ports and the real ones
 */
function placed(text: string, options: ExampleOptions, ports: Map<number, number>): string {
  let conf = text
    .replaceAll("/opt/lua-resty-ax", ROOT)
    .replace(/^include \/etc\/nginx\/modules-enabled\/\*\.conf;.*$/m, () => findNginx().load_modules)
    // What nginx writes stays under its prefix; the compiled-in places are root's, or need not exist there.
    .replace(/^worker_processes auto;$/m, `worker_processes ${WORKERS}; pid nginx.pid;`)
    .replace(/^http \{$/m, `http { include ${KIT_DIR}/paths.conf; access_log off;`)
    .replace(/^(\s*listen )(?:[\d.]+:)?(\d+)/gm, (_, listen: string, port: string) => {
      return `${listen}127.0.0.1:${ports.get(Number(port))}`;
    });
  // In two steps: a real address may be that of another node in the file.
  const words = Object.entries({ ...options.nodes, ...options.paths });
  for (const [k, [from]] of words.entries()) conf = replaceWord(conf, from, `<<${k}>>`);
  return conf.replace(/<<(\d+)>>/g, (_, k: string) => words[Number(k)][1]);
}

/**
 * Starts a gateway with a file of nginx/examples: as users copy it, but for addresses, ports and paths.
 * @throws Error when the file has none of the words that `options` replaces; NginxStartError when nginx does not start
 */
export async function startExample(kit: Kit, file: string, options: ExampleOptions): Promise<Example> {
  const template = join(EXAMPLES_DIR, file);
  const text = readFileSync(template, "utf8");
  const listens = [...text.matchAll(/^\s*listen (?:[\d.]+:)?(\d+)/gm)].map((match) => Number(match[1]));
  return despitePortRaces(async () => {
    const ports = new Map<number, number>();
    for (const listen of listens) ports.set(listen, await freePort());
    const portOf = (listen: number): number => {
      const port = ports.get(listen);
      if (port === undefined) throw new Error(`${file} does not listen on ${listen}`);
      return port;
    };
    const gateway = await kit.gateway({
      name: file,
      template,
      edit: (conf) => placed(conf, options, ports),
      servers: [],
      workers: WORKERS,
      port: portOf(options.port ?? 8080),
      // Not a request to a node: those are counted.
      ready_path: "/ax/v1/upstreams",
    });
    return { ...gateway, portOf };
  });
}
