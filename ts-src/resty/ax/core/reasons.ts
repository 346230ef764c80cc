/** Numbers as people read them, for the reasons shown beside a node's state. */

/** @returns whole seconds: "31" */
export function secondsText(ms: number): string {
  return `${Math.floor(ms / 1000 + 0.5)}`;
}

/** @param share 0..1 @returns percent with at most one decimal: "12.4", "5" */
export function percentText(share: number): string {
  return `${Math.floor(share * 1000 + 0.5) / 10}`;
}

/** "1 connection failure in a row (max_fails 1)" */
export function streakText(streak: number, max_fails: number): string {
  const failures = streak === 1 ? "1 connection failure" : `${streak} connection failures in a row`;
  return `${failures} (max_fails ${max_fails})`;
}

/** "error rate 12.4 % for 31 s (limit 5 % for 30 s)" */
export function errorRateText(rate: number, for_ms: number, limit: number, limit_s: number): string {
  return `error rate ${percentText(rate)} % for ${secondsText(for_ms)} s (limit ${percentText(limit)} % for ${limit_s} s)`;
}
