import { quote } from "../../core/config/show";
import type { Directive, UpstreamBlock } from "./upstreams";

/** nginx's ways to choose a server, and packaged modules': each replaces the one written before it. */
const METHODS: Record<string, true | undefined> = {
  least_conn: true,
  least_time: true,
  ip_hash: true,
  hash: true,
  random: true,
  fair: true,
};

/** What the order of an upstream block's directives makes of this library. */
export interface OrderFindings {
  /** The library would never be asked: nginx is not to start like this. */
  problem?: string;
  /** Works, but not as meant. */
  warnings: string[];
}

function place(directive: Directive): string {
  return `${directive.file}:${directive.line}`;
}

function lastBalancer(block: UpstreamBlock): number {
  let found = -1;
  for (let i = 0; i < block.directives.length; i++) {
    if (string.find(block.directives[i].name, "balancer_by_lua", 1, true)[0] === 1) found = i;
  }
  return found;
}

/**
 * nginx takes the directives of an upstream block in their order: the last balancing method is the one in force, and
 * `keepalive` serves the method before it (nginx says no more than "load balancing method redefined").
 */
export function checkOrder(block: UpstreamBlock): OrderFindings {
  const findings: OrderFindings = { warnings: [] };
  const at = lastBalancer(block);
  if (at < 0) {
    const where = `the upstream block at ${block.file}:${block.line}`;
    findings.warnings.push(
      `${where} has no balancer_by_lua: nginx chooses by itself; add balancer_by_lua_block { require("resty.ax").balancer(${quote(block.name)}) } after its server lines`,
    );
    return findings;
  }
  const balancer = block.directives[at];
  for (let i = 0; i < block.directives.length; i++) {
    const directive = block.directives[i];
    if (i > at && METHODS[directive.name] === true) {
      findings.problem ??=
        `${directive.name} at ${place(directive)} comes after ${balancer.name} at ${place(balancer)} and replaces it: ` +
        `this library would not choose any node; remove ${directive.name} (option "strategy" says how to choose)`;
    } else if (i < at && directive.name === "keepalive") {
      findings.warnings.push(
        `keepalive at ${place(directive)} comes before ${balancer.name} at ${place(balancer)} and has no effect: ` +
          "every request opens a connection of its own; move keepalive behind it",
      );
    }
  }
  return findings;
}
