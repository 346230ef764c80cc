/**
 * nginx's $upstream_* variables hold one value per try: "a, b", and "a, b : c" after an internal
 * redirect. A dangling " : " follows a request that left the balancer without a try.
 */
export function splitTries(text: string): string[] {
  const values = text.split(" : ").join(", ").split(", ");
  while (values.length > 0 && values[values.length - 1] === "") values.pop();
  return values;
}

/**
 * Matches our tries (their addresses, in order) with nginx's list of tries, which may hold tries that
 * were not ours: another upstream's, or nginx's own after we stood aside. Matching runs from the end,
 * because what is ours alone (a request taken over from a leaked one) is at the beginning.
 * @returns for each of our tries, the position in nginx's list, or -1
 */
export function matchTries(ours: string[], nginx: string[]): number[] {
  const matched: number[] = [];
  // As many as nginx's: by position, since nginx may write an address differently (IPv6).
  if (ours.length === nginx.length) {
    for (let k = 0; k < ours.length; k++) matched[k] = k;
    return matched;
  }
  for (let k = 0; k < ours.length; k++) matched[k] = -1;
  let at = ours.length - 1;
  for (let k = nginx.length - 1; k >= 0 && at >= 0; k--) {
    if (nginx[k] === ours[at]) {
      matched[at] = k;
      at--;
    }
  }
  return matched;
}
