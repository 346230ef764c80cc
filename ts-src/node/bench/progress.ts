/** How much of a run is left, by what was estimated for its parts and how long those took that are done. */

export interface Progress {
  /** A part is done that was estimated at so many seconds. */
  done(estimated_s: number): void;
  /** "about 4 min left" */
  left(): string;
}

/** "40 s", "4 min": no more exact than an estimate is. */
export function roughly(seconds: number): string {
  const rounded = Math.ceil(Math.max(0, seconds) / 5) * 5;
  return rounded < 90 ? `${rounded} s` : `${Math.ceil(rounded / 60)} min`;
}

/**
 * @param total_s estimate for the whole
 * @param now_s a clock, s
 */
export function newProgress(total_s: number, now_s: () => number): Progress {
  const start_s = now_s();
  let done_s = 0;
  return {
    done: (estimated_s) => (done_s += estimated_s),
    left: () => {
      // Estimates are for an idle machine: how far the parts done were off is what to expect of the rest.
      const pace = done_s > 0 ? Math.max(1, (now_s() - start_s) / done_s) : 1;
      return `about ${roughly((total_s - done_s) * pace)} left`;
    },
  };
}
