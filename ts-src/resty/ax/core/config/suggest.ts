/**
 * The nearest known word for a mistyped one: Damerau-Levenshtein distance in its restricted form
 * ("optimal string alignment", Damerau 1964; Levenshtein 1966): insertions, deletions, substitutions
 * and swaps of neighbours count 1 each. Case, "-" and "_" are ignored, so that camelCase finds
 * snake_case. Failing that, a known word that has all the parts of the written one.
 */

/** Longer words are not compared: nobody mistypes that much, and the work grows with the square. */
const MAX_LENGTH = 64;

/** Past this many edits a suggestion is a guess. 3 still finds a forgotten "_ms". */
const MAX_EDITS = 3;

/** Letters a word must have per edit allowed. */
const LETTERS_PER_EDIT = 3;

/** The word's letters as codes: lower case, without "-" and "_". */
function letters(word: string): number[] {
  const codes: number[] = [];
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i);
    if (code >= 65 && code <= 90) codes.push(code + 32);
    else if (code !== 45 && code !== 95) codes.push(code);
  }
  return codes;
}

/** @param limit from where on the number does not matter: then the result may be anything from there up */
function distanceOf(a: number[], b: number[], limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let last: number[] = [];
  for (let j = 0; j <= b.length; j++) last.push(j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let edits = last[j - 1] + (same ? 0 : 1);
      if (last[j] + 1 < edits) edits = last[j] + 1;
      if (row[j - 1] + 1 < edits) edits = row[j - 1] + 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped && before[j - 2] + 1 < edits) edits = before[j - 2] + 1;
      row.push(edits);
      if (edits < least) least = edits;
    }
    // Swaps reach back one row, and save one edit.
    if (least > limit) return limit;
    before = last;
    last = row;
  }
  return last[b.length];
}

/** @returns edits between two words, ignoring case, "-" and "_" */
export function distance(a: string, b: string): number {
  return distanceOf(letters(a), letters(b), Infinity);
}

/** The word's parts between "_" and "-", with bars around each: "|eject|rate|". */
function parts(word: string): string {
  let barred = "|";
  for (let i = 0; i < word.length; i++) {
    const char = word.charAt(i);
    barred += char === "_" || char === "-" ? "|" : char;
  }
  return barred + "|";
}

/** Whether every part of the one occurs in the other; false for a word of one part. */
function hasParts(written: string, candidate: string): boolean {
  let start = 0;
  let count = 0;
  for (let i = 1; i < written.length; i++) {
    if (written.charAt(i) !== "|") continue;
    if (!candidate.includes(written.substring(start, i + 1))) return false;
    start = i;
    count++;
  }
  return count > 1;
}

/** The shortest known word with all the parts of the written one: "eject_rate" for "eject_error_rate". */
function suggestByParts(word: string, known: string[]): string | undefined {
  const written = parts(word);
  let shortest: string | undefined;
  for (let i = 0; i < known.length; i++) {
    const longer = shortest !== undefined && known[i].length >= shortest.length;
    if (!longer && hasParts(written, parts(known[i]))) shortest = known[i];
  }
  return shortest;
}

/**
 * @param word what was written
 * @param known what could have been meant; of equally near ones the first wins
 * @returns the nearest known word, or undefined when none is near enough to be a likely slip
 */
export function suggest(word: string, known: string[]): string | undefined {
  if (word.length === 0 || word.length > MAX_LENGTH) return undefined;
  const written = letters(word);
  let nearest: string | undefined;
  let least = MAX_EDITS + 1;
  for (let i = 0; i < known.length; i++) {
    const candidate = letters(known[i]);
    const longest = written.length > candidate.length ? written.length : candidate.length;
    const allowed = Math.max(1, Math.floor(longest / LETTERS_PER_EDIT));
    const edits = distanceOf(written, candidate, least);
    if (edits <= allowed && edits < longest && edits < least) {
      least = edits;
      nearest = known[i];
    }
  }
  return nearest === undefined ? suggestByParts(word, known) : nearest;
}
