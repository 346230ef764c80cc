/**
 * Seeded pseudo-random numbers: the "minimal standard" multiplicative congruential generator
 * (Park & Miller 1988, multiplier 48271). Products stay under 2^53, so Lua and JavaScript give the
 * same sequence. Good enough to spread load; not for secrets.
 */
export interface Random {
  /** 1 .. 2147483646. Written by every draw. */
  state: number;
}

const MODULUS = 2147483647;
const MULTIPLIER = 48271;

/** @param seed any finite number; equal seeds give equal sequences */
export function newRandom(seed: number): Random {
  // Neighbouring seeds (pids, worker numbers) give neighbouring first draws: scatter them.
  const random = { state: (Math.floor(Math.abs(seed)) % (MODULUS - 1)) + 1 };
  for (let i = 0; i < 8; i++) draw(random);
  return random;
}

/** @returns a number in [0, 1) */
export function draw(random: Random): number {
  const state = (random.state * MULTIPLIER) % MODULUS;
  random.state = state;
  return (state - 1) / (MODULUS - 1);
}

/** @returns a whole number in 0 .. n-1 */
export function drawBelow(random: Random, n: number): number {
  return Math.floor(draw(random) * n);
}
