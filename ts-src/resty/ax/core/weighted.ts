import { draw, type Random } from "./random";

/**
 * Weighted random choice in constant time: the alias method (Walker 1977, in Vose's linear-time
 * form, 1991). Built when weights change, drawn from at every pick.
 */
export interface AliasTable {
  n: number;
  /** Entry k stays with item k when the draw inside the column is below threshold[k]. */
  threshold: number[];
  alias: number[];
  /** For building: kept, because tables grow by copying. */
  scaled: number[];
  small: number[];
  large: number[];
}

export function newAliasTable(): AliasTable {
  return { n: 0, threshold: [], alias: [], scaled: [], small: [], large: [] };
}

/**
 * Fills the table for items 0..n-1. When no weight is positive, all items are equal.
 * @param weights weights[k] ≥ 0
 */
export function buildAliasTable(table: AliasTable, weights: number[], n: number): void {
  let total = 0;
  for (let k = 0; k < n; k++) total += weights[k];
  const { scaled, small, large } = table;
  let smalls = 0;
  let larges = 0;
  for (let k = 0; k < n; k++) {
    scaled[k] = total > 0 ? (weights[k] * n) / total : 1;
    table.threshold[k] = 1;
    table.alias[k] = k;
    if (scaled[k] < 1) small[smalls++] = k;
    else large[larges++] = k;
  }
  while (smalls > 0 && larges > 0) {
    const less = small[--smalls];
    const more = large[larges - 1];
    table.threshold[less] = scaled[less];
    table.alias[less] = more;
    scaled[more] = scaled[more] - (1 - scaled[less]);
    if (scaled[more] < 1) {
      larges--;
      small[smalls++] = more;
    }
  }
  table.n = n;
}

/** @returns an item 0 .. n-1; the table must have been built for at least one item */
export function drawAlias(table: AliasTable, random: Random): number {
  const column = draw(random) * table.n;
  const k = Math.floor(column);
  return column - k < table.threshold[k] ? k : table.alias[k];
}

/**
 * One weighted draw without a table, for lists used once (retries).
 * @param weights by item, items listed in `items[0..count-1]`
 * @returns one of the items; each alike when no weight is positive
 */
export function drawWeighted(items: number[], count: number, weights: number[], random: Random): number {
  let total = 0;
  for (let k = 0; k < count; k++) total += weights[items[k]];
  let left = draw(random) * (total > 0 ? total : count);
  for (let k = 0; k < count; k++) {
    left -= total > 0 ? weights[items[k]] : 1;
    if (left < 0) return items[k];
  }
  return items[count - 1];
}
