import type { NodeConfig } from "../model";
import { ADDRESS_FORMS, formatAddress, parseAddress } from "./address";
import { keyPath, positionPath, type Problems, report } from "./problems";
import type { FieldSchema } from "./schema";
import { isTable, quote } from "./show";
import { checkName } from "./texts";

/**
 * nginx's own max_fails is 1. One reset connection, as every deployment of a backend makes, must not take a node out.
 * Three in a row make it suspect; ten are no accident. What a `server` line says counts.
 */
export const DEFAULT_MAX_FAILS = 10;

/** nginx's own fail_timeout is 10 s. With a trial at the end of it, and ten failures before, there is time to restart. */
export const DEFAULT_FAIL_TIMEOUT_S = 30;

/** Any number would do: only the relation to the other nodes' counts. */
const DEFAULT_NODE_COST = 1;

/** @returns what is wrong with an address as the user writes it */
function checkAddress(text: string): string | undefined {
  return parseAddress(text).problem;
}

/** Options of one node; the fields of core/model.ts NodeConfig. */
export const nodeFields: Record<string, FieldSchema> = {
  address: {
    kind: "string",
    required: true,
    check: checkAddress,
    expected: ADDRESS_FORMS,
    doc:
      `Where the node listens: ${ADDRESS_FORMS}. An IP address: nginx takes no host names here; for names, leave ` +
      "`nodes` out and write `server` lines in the upstream block.",
  },
  name: {
    kind: "string",
    check: checkName,
    doc:
      "Identity of the node, unique in its upstream, 1..255 printable characters. Its score and state follow the name " +
      "when the address changes. Without a name the address is the identity.",
  },
  weight: {
    kind: "number",
    min: 0,
    max: 65535,
    default: 1,
    doc: "Base weight, relative to the other nodes; 0 = only when nothing else is left.",
    reason: "nginx's own default",
  },
  max_fails: {
    kind: "number",
    integer: true,
    min: 0,
    max: 1000,
    default: DEFAULT_MAX_FAILS,
    doc: "Tries without an answer (refused, reset, timed out) in a row that eject the node; 0 = never.",
    reason: "nginx's own default is 1, but one reset connection must not take a node out; three make it suspect",
  },
  fail_timeout_s: {
    kind: "number",
    min: 1,
    max: 86400,
    default: DEFAULT_FAIL_TIMEOUT_S,
    doc: "How long an ejection by `max_fails` lasts.",
    reason: "time to restart; nginx's own default is 10 s",
  },
  max_conns: {
    kind: "number",
    integer: true,
    min: 0,
    max: 1000000,
    default: 0,
    doc:
      "Most requests in flight to the node, over all workers; 0 = no limit of its own. `max_concurrency_per_node` " +
      "applies besides.",
    reason: "nginx's own default",
  },
  backup: {
    kind: "boolean",
    default: false,
    doc: "Used only when no primary node is usable.",
    reason: "nginx's own default",
  },
  down: {
    kind: "boolean",
    default: false,
    doc: "Taken out by the operator: never picked, but shown.",
    reason: "nginx's own default",
  },
  zone: {
    kind: "string",
    check: checkName,
    doc:
      "Where the node stands, any name. Nodes in the gateway's own `zone` are preferred while they have capacity " +
      "([zones.md](zones.md)).",
  },
  cost: {
    kind: "number",
    min: 0,
    max: 1000000,
    default: DEFAULT_NODE_COST,
    doc: "What a request to the node costs, relative to the others. Read by the strategy `goal` with the goal `cost`.",
    reason: "all nodes alike",
  },
  labels: {
    kind: "map",
    of: { kind: "string", doc: "Value of the label." },
    key_doc: "label",
    key_check: checkName,
    default_empty: true,
    expected: 'a map of strings, { zone = "a" },',
    doc: 'Anything worth knowing of the node, as strings: `{ zone = "a", host = "m1" }`.',
    reason: "no labels",
  },
};

/**
 * @param record one node, valid by `nodeFields`
 * @returns the node with its address parsed and its identity decided
 */
export function toNode(record: Record<string, unknown>): NodeConfig {
  const address = parseAddress(record["address"] as string).address;
  const host = address === undefined ? "" : address.host;
  const port = address === undefined ? 0 : address.port;
  const name = record["name"] as string | undefined;
  return {
    id: name === undefined ? formatAddress({ host, port }) : name,
    host,
    port,
    weight: record["weight"] as number,
    max_fails: record["max_fails"] as number,
    fail_timeout_s: record["fail_timeout_s"] as number,
    max_conns: record["max_conns"] as number,
    backup: record["backup"] as boolean,
    down: record["down"] as boolean,
    zone: (record["zone"] as string | undefined) ?? "",
    cost: record["cost"] as number,
    labels: record["labels"] as Record<string, string>,
  };
}

/** Identities and addresses seen so far in one upstream, with the position (from 1) they were at. */
interface Seen {
  ids: Record<string, number>;
  addresses: Record<string, number>;
}

function checkUnique(
  node: Record<string, unknown>,
  position: number,
  path: string,
  seen: Seen,
  problems: Problems,
): void {
  const text = node["address"] as string | undefined;
  const parsed = text === undefined ? undefined : parseAddress(text).address;
  const address = parsed === undefined ? undefined : formatAddress(parsed);
  const name = node["name"] as string | undefined;
  let address_taken = false;
  if (address !== undefined) {
    const first = seen.addresses[address];
    address_taken = first !== undefined;
    if (first === undefined) seen.addresses[address] = position;
    else
      report(
        problems,
        keyPath(path, "address"),
        `${quote(address)} is the address of nodes[${first}] too; each needs its own`,
      );
  }
  const id = name === undefined ? address : name;
  if (id === undefined) return;
  const first = seen.ids[id];
  if (first === undefined) seen.ids[id] = position;
  else if (name !== undefined || !address_taken) {
    const field = name === undefined ? "address" : "name";
    report(problems, keyPath(path, field), `${quote(id)} is the identity of nodes[${first}] too; each needs its own`);
  }
}

/**
 * Rules over the nodes of one upstream: unique names and addresses.
 * @param nodes entries valid by `nodeFields`, or UNUSABLE; fields with a problem are absent
 * @param path path of the list
 */
export function checkNodes(nodes: unknown[], path: string, problems: Problems): void {
  const seen: Seen = { ids: {}, addresses: {} };
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i];
    if (isTable(node)) checkUnique(node, i + 1, positionPath(path, i + 1), seen, problems);
  }
  checkTiers(nodes, path, "node", problems);
}

/**
 * At least one node must be usable, and at least one must be a primary.
 * @param nodes as for checkNodes, at least one
 * @param path where the nodes were given
 * @param noun what they are called there: "node", "server"
 */
export function checkTiers(nodes: unknown[], path: string, noun: string, problems: Problems): void {
  let down = 0;
  let backup = 0;
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i];
    if (isTable(node) && node["down"] === true) down++;
    if (isTable(node) && node["backup"] === true) backup++;
  }
  const all = nodes.length === 1 ? `the only ${noun} is` : `all ${nodes.length} ${noun}s are`;
  if (down === nodes.length) report(problems, path, `${all} down; at least one must not be`);
  if (backup === nodes.length) report(problems, path, `${all} backup; at least one primary is needed`);
}
