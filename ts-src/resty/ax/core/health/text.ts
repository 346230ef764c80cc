import type { UpstreamConfig } from "../model";
import { percentText, secondsText } from "../reasons";
import type { Health } from "./record";
import { rampFactor } from "./ramp";

/** Separates the cause from what moves with the time, in a reason's text. */
const CAUSE_END = "; ";

/** @returns why the node is in its state, in words, with the numbers */
export function reasonText(health: Health, upstream: UpstreamConfig, now_ms: number): string {
  let text = health.cause;
  if (health.state === "ramping") {
    text += `${CAUSE_END}${percentText(rampFactor(health, upstream, now_ms))} % of its share`;
  }
  if (health.kept !== undefined) {
    text += `${CAUSE_END}kept, the pool cannot spare it, in spite of ${health.kept}`;
  } else if (health.error_since_ms !== undefined) {
    const lasted = secondsText(now_ms - health.error_since_ms);
    text += `${CAUSE_END}error rate over ${percentText(upstream.eject_error_rate)} % for ${lasted} s`;
  }
  return text;
}

/** @returns the cause in a reason's text: what a collector takes over from one that did not publish causes */
export function causeOf(reason: string): string {
  const end = reason.indexOf(CAUSE_END);
  return end < 0 ? reason : reason.substring(0, end);
}
