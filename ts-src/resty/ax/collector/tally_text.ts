import { addSparse, cleanSparse, toSparse } from "../core/histogram";
import { emptyTally, judged, type Tally } from "../core/windows";

/** How a long window is written for the next collector, and how much of it that one takes over. */

/** Counts are written as whole multiples of 1/8: they become fractions when half of them is taken over. */
const COUNT_SCALE = 8;

/**
 * Share of a long window's counts that is taken over. They come back as one slot, as if all were new; with
 * a reload every few seconds they would never age out. Halved each time, they are outweighed instead.
 */
const TAKEOVER_SHARE = 0.5;

/** Windows with fewer samples than this many times `min_samples` are taken over whole, so that they can still speak. */
const PLENTY = 2;

/**
 * A long window as text: "picks,ok,err,fail,aborted,sum_ms,bucket,count,bucket,count,…", counts times 8.
 * Not JSON numbers, which take an encoder several times as long, for a thousand nodes at a time.
 */
export function tallyText(tally: Tally): string {
  const sparse = toSparse(tally.hist);
  for (let i = 1; i < sparse.length; i += 2) sparse[i] = scaled(sparse[i]);
  const head = `${scaled(tally.picks)},${scaled(tally.ok)},${scaled(tally.err)},${scaled(tally.fail)}`;
  return `${head},${scaled(tally.aborted)},${scaled(tally.sum_ms)},${sparse.join(",")}`;
}

function scaled(count: number): number {
  return Math.floor(count * COUNT_SCALE);
}

/**
 * @param text from tallyText; what is not a number in it is passed over
 * @param min_samples decides how much of it is taken over
 * @returns what a new collector starts from
 */
export function parseTally(text: string, min_samples: number): Tally {
  const numbers = parseNumbers(text);
  const tally = emptyTally();
  for (let i = numbers.length; i < 6; i++) numbers[i] = 0;
  const samples = (numbers[1] + numbers[2] + numbers[3]) / COUNT_SCALE;
  const share = (samples > PLENTY * min_samples ? TAKEOVER_SHARE : 1) / COUNT_SCALE;
  tally.picks = numbers[0] * share;
  tally.ok = numbers[1] * share;
  tally.err = numbers[2] * share;
  tally.fail = numbers[3] * share;
  tally.aborted = numbers[4] * share;
  tally.sum_ms = numbers[5] * share;
  if (judged(tally) > 0) addSparse(tally.hist, cleanSparse(numbers.slice(6)), share);
  return tally;
}

const ZERO = 48;
const NINE = 57;

/** Whole numbers separated by anything else: a loop over bytes, many times faster than splitting. */
function parseNumbers(text: string): number[] {
  const numbers: number[] = [];
  const length = text.length;
  let count = 0;
  let number = 0;
  let in_number = false;
  for (let i = 0; i < length; i++) {
    const byte = text.charCodeAt(i);
    const is_digit = byte >= ZERO && byte <= NINE;
    if (is_digit) {
      number = number * 10 + (byte - ZERO);
    } else if (in_number) {
      numbers[count] = number;
      count++;
      number = 0;
    }
    in_number = is_digit;
  }
  if (in_number) numbers[count] = number;
  return numbers;
}
