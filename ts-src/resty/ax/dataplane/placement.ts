/**
 * Where a request may go before the strategy has its say: in which zone (core/zones.ts), and on which
 * nodes for its class (core/classes.ts). Written per flush and whenever candidates change; read by picks.
 * Absent from upstreams that configure neither.
 */
import { type Cidr, parseCidr } from "../core/cidr";
import { type ClassSource, DEFAULT_CLASSES, type Loads, newLoads, parseClassSource } from "../core/classes";
import type { NodeConfig, UpstreamConfig } from "../core/model";
import type { Pool } from "../core/pool";
import { priorityOf } from "../core/priority";
import { newRandom, type Random } from "../core/random";
import { localShare, type ZoneLoad } from "../core/zones";

export interface Placement {
  random: Random;
  /** Nodes of the gateway's own zone; all when it has none. */
  is_local: boolean[];
  /**
   * The upstream's pool as it looks from the other zones: the same arrays, other candidates; and the
   * strategy's state for it. A strategy knows nothing of zones: it sees two pools, each with tables of its own.
   */
  others: Pool;
  others_state: never;
  /** Share of requests served by the pool's own candidates, 0..1; 1 when the others have none. */
  local_share: number;
  /** What is usual in each of the two; kept while classes are configured. */
  loads: Loads;
  others_loads: Loads;
  source: ClassSource | undefined;
  /** Class name → priority, 1..5. */
  priorities: Record<string, number | undefined>;
  /** Clients write their class themselves, and only those in `trusted` may promote themselves. */
  guarded: boolean;
  trusted: Cidr[];
}

function prioritiesOf(config: UpstreamConfig): Record<string, number | undefined> {
  const priorities: Record<string, number | undefined> = {};
  for (const [name, meaning] of pairs(config.classes ?? DEFAULT_CLASSES)) priorities[name] = priorityOf(meaning);
  return priorities;
}

function trustedOf(config: UpstreamConfig): Cidr[] {
  const trusted: Cidr[] = [];
  for (const text of config.trusted_clients ?? []) {
    const range = parseCidr(text);
    if (range !== undefined) trusted.push(range);
  }
  return trusted;
}

/** Of a function nothing is known but that it is not the client. */
function sourceOf(config: UpstreamConfig): ClassSource | undefined {
  const given = config.class_source;
  if (given === undefined) return undefined;
  return typeof given === "string" ? parseClassSource(given) : { from_client: false };
}

/**
 * @param pool the upstream's pool, whose arrays are shared
 * @returns undefined when neither zone nor class_source is configured
 */
export function newPlacement(config: UpstreamConfig, pool: Pool, seed: number): Placement | undefined {
  if (config.zone === undefined && config.class_source === undefined) return undefined;
  const is_local: boolean[] = [];
  for (let node = 0; node < pool.n; node++) {
    is_local[node] = config.zone === undefined || config.nodes[node].zone === config.zone;
  }
  const source = sourceOf(config);
  return {
    // Another sequence than the strategy's, which gets `seed` itself.
    random: newRandom(seed + 1),
    is_local,
    // eslint-disable-next-line ax/hot-loops -- once per worker
    others: { ...pool, candidates: [], candidate_count: 0, candidate_of: [...pool.candidate_of] },
    others_state: undefined as never,
    local_share: 1,
    loads: newLoads(),
    others_loads: newLoads(),
    source,
    priorities: prioritiesOf(config),
    guarded: source?.from_client === true && !config.trust_client_class,
    trusted: trustedOf(config),
  };
}

/**
 * Moves candidates of other zones to the other view. Without any of the own zone all stay: then there is
 * nothing to prefer.
 */
export function splitByZone(placement: Placement, pool: Pool): void {
  const others = placement.others;
  let local = 0;
  for (let k = 0; k < pool.candidate_count; k++) if (placement.is_local[pool.candidates[k]]) local++;
  others.candidate_count = 0;
  others.version++;
  if (local === 0 || local === pool.candidate_count) return;
  let kept = 0;
  let moved = 0;
  for (let k = 0; k < pool.candidate_count; k++) {
    const node = pool.candidates[k];
    if (placement.is_local[node]) {
      pool.candidates[kept] = node;
      kept++;
    } else {
      others.candidates[moved] = node;
      moved++;
    }
  }
  pool.candidate_count = kept;
  others.candidate_count = moved;
}

/** What the nodes of a view can take, and of how much. */
function zoneLoad(placement: Placement, nodes: NodeConfig[], view: Pool, local: boolean): ZoneLoad {
  const load: ZoneLoad = { weight: 0, base_weight: 0, in_flight: 0, capacity: 0 };
  const tier = nodes[view.candidates[0]].backup;
  for (let node = 0; node < view.n; node++) {
    const given = nodes[node];
    if (placement.is_local[node] === local && given.backup === tier && !given.down) load.base_weight += given.weight;
  }
  for (let k = 0; k < view.candidate_count; k++) {
    const node = view.candidates[k];
    load.weight += math.min(view.weight[node], nodes[node].weight);
    load.in_flight += view.in_flight[node] + view.others_in_flight[node];
    load.capacity += view.capacity[node];
  }
  return load;
}

/** Brings the share of the own zone up to date. */
export function updateShare(placement: Placement, pool: Pool, nodes: NodeConfig[]): void {
  if (placement.others.candidate_count === 0) {
    placement.local_share = 1;
    return;
  }
  placement.local_share = localShare(
    zoneLoad(placement, nodes, pool, true),
    zoneLoad(placement, nodes, placement.others, false),
  );
}
