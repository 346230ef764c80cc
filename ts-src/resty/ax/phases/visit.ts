import { splitTries } from "../core/tries";
import { variable } from "../nginx/request";

/** Whether the last try before an internal redirect got an answer, not a 5xx. Access or balancer phase. */
export function lastAnswered(): boolean {
  const statuses = splitTries(variable("upstream_status") ?? "");
  for (let k = statuses.length - 1; k >= 0; k--) {
    const status = tonumber(statuses[k]);
    if (status !== undefined) return status < 500;
  }
  return false;
}
