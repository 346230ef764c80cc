import { inRotation, startRamp } from "../core/ejection";
import { keepsOut, type OperatorWill, willText } from "../core/operator";
import { clearNode } from "../core/windows";
import type { NodeState } from "../core/health/states";
import { forgetSeen, type NodeRecord, type UpstreamRecord } from "./state";
import { willOf } from "./wills";

/**
 * The operator's wills over what the automatics decided: the node's own state goes on beneath, and shows again when
 * the will has ended. Who was kept out comes back by a ramp, as after any other absence.
 */
export function takeWills(upstream: UpstreamRecord, now_ms: number): void {
  for (let i = 0; i < upstream.nodes.length; i++) {
    const node = upstream.nodes[i];
    const will = willOf(upstream.wills, node.config.id, now_ms);
    const before = node.will;
    if (will !== before) {
      node.will = will;
      node.described = false;
      if (before !== undefined && keepsOut(before) && (will === undefined || !keepsOut(will)))
        comeBack(node, upstream, now_ms);
    }
  }
}

function comeBack(node: NodeRecord, upstream: UpstreamRecord, now_ms: number): void {
  node.health = startRamp(node.health, "given back by the operator", upstream.config, now_ms);
  forgetSeen(node.seen);
  clearNode(node.windows, now_ms);
  node.held_until_ms = 0;
}

/** @returns whether an operator keeps the node out */
export function keptOut(node: NodeRecord): boolean {
  return node.will !== undefined && keepsOut(node.will);
}

/** @returns whether requests may go to it, by its own state and the operator's will */
export function serves(node: NodeRecord): boolean {
  return inRotation(node.health) && !keptOut(node);
}

/** @returns the state of a node with this will; one that drains is offline when nothing is in flight to it any more */
function stateOf(will: OperatorWill, node: NodeRecord): NodeState {
  if (will.kind === "force_up") return "online";
  if (will.kind === "maintenance") return "maintenance";
  return will.kind === "drain" && node.detail.in_flight > 0 ? "draining" : "offline";
}

/** Puts the will's state in place of the node's own, for picks and for show. Without a will, nothing. */
export function overrule(node: NodeRecord): void {
  const { will, detail } = node;
  if (will === undefined || node.config.down) return;
  detail.state = stateOf(will, node);
}

/** The will's words in place of the state's. Without a will, nothing. */
export function describeWill(node: NodeRecord): void {
  const { will, detail } = node;
  if (will === undefined || node.config.down) return;
  detail.reason = willText(will);
  detail.since_ms = will.at_ms;
  detail.until_ms = will.until_ms;
}
