/**
 * A long array of numbers in pieces. A Lua table grows by doubling, and each doubling copies all of it:
 * at 32,768 entries that takes over a millisecond, at a million 70. In pieces, no write copies more
 * than one.
 */
export type Chunked = number[][];

const BITS = 12;
const CHUNK = 4096;
const MASK = 4095;

/** @param at an entry that has been written */
export function read(chunks: Chunked, at: number): number {
  return chunks[at >> BITS][at & MASK];
}

/** Writes an entry. Pieces must be begun in order; within them any order will do. */
export function write(chunks: Chunked, at: number, value: number): void {
  let chunk: number[] | undefined = chunks[at >> BITS];
  if (chunk === undefined) {
    // Filled in order, so that it is an array in Lua.
    chunk = [];
    for (let k = 0; k < CHUNK; k++) chunk[k] = 0;
    chunks[at >> BITS] = chunk;
  }
  chunk[at & MASK] = value;
}
