/**
 * The same number, as one that has fractions.
 *
 * OpenResty builds its LuaJIT with two kinds of numbers (LUAJIT_NUMMODE=2): whole ones are kept as integers. A compiled
 * trace holds for one kind. For each place where the other kind turns up another trace is compiled, and where a dozen
 * nodes are compared there is no end of them: requests became several times as dear, and LuaJIT gave traces up ("NYI:
 * register coalescing too complex"). So an array that the hot path reads holds one kind only: counts are whole, and
 * what is measured has fractions, also where it begins as 0 or 1. A division gives such a number, and costs nothing
 * where it is one already.
 *
 * @param value any number
 * @returns the same value
 */
export function fraction(value: number): number {
  const same = value / 1;
  return same;
}
