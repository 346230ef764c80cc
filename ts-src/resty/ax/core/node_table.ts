import type { Pool } from "./pool";
import type { Random } from "./random";
import { type AliasTable, buildAliasTable, drawAlias, newAliasTable } from "./weighted";

/**
 * Nodes that are drawn by weight in constant time. Filled by a strategy's `prepare` (flush), drawn from by its picks;
 * lives as long as the strategy's state. Between flushes a candidate can be taken out: a draw that gives a node which
 * is none any more is drawn again, which is the draw a new table would give. One that comes back waits for the flush.
 */
export interface NodeTable {
  nodes: number[];
  /** Weight of nodes[k]; 0 or more. */
  weights: number[];
  table: AliasTable;
  /** Version of the pool it was filled from; -1 = never filled. */
  version: number;
}

/** Draws until the table is given up: with half of its nodes gone, one pick in 256 gets there. */
const DRAWS_MAX = 8;

export function newNodeTable(): NodeTable {
  return { nodes: [], weights: [], table: newAliasTable(), version: -1 };
}

/** Takes over the pool's candidates with the given weights by node. */
export function fillNodeTable(nodes: NodeTable, pool: Pool, weights: number[]): void {
  for (let k = 0; k < pool.candidate_count; k++) {
    const node = pool.candidates[k];
    nodes.nodes[k] = node;
    nodes.weights[k] = weights[node];
  }
  closeNodeTable(nodes, pool.candidate_count, pool.version);
}

/**
 * Makes the table from `nodes` and `weights`.
 * @param count how many of them are valid
 */
export function closeNodeTable(nodes: NodeTable, count: number, version: number): void {
  buildAliasTable(nodes.table, nodes.weights, count);
  nodes.version = version;
}

/** The slow way: the first draw gave a node that is no candidate any more. */
function drawAgain(nodes: NodeTable, pool: Pool, random: Random): number {
  for (let k = 1; k < DRAWS_MAX; k++) {
    const node = nodes.nodes[drawAlias(nodes.table, random)];
    if (pool.candidate_of[node] === pool.version) return node;
  }
  return -1;
}

/** @returns a candidate of the pool, by weight; -1 when the table has none (all of its nodes went out at once) */
export function drawNode(nodes: NodeTable, pool: Pool, random: Random): number {
  if (nodes.table.n === 0) return -1;
  const node = nodes.nodes[drawAlias(nodes.table, random)];
  return pool.candidate_of[node] === pool.version ? node : drawAgain(nodes, pool, random);
}
