import { describe, expect, it } from "vitest";
import { withKit } from "../../ts-src/node/testkit";
import { failures, picksOf, startLoad, waitForStatus } from "./support";

const FAST = { delay: { dist: "exp" as const, p99_ms: 10 } };
const SLOW = { delay: { dist: "exp" as const, p99_ms: 80 } };

function share(before: Record<string, number>, after: Record<string, number>, id: string): number {
  const total = Object.keys(after).reduce((sum, key) => sum + after[key] - before[key], 0);
  return (after[id] - before[id]) / total;
}

describe("the reference case: one of six nodes slows down from P99 10 ms to 80 ms", () => {
  it("gets under 1 % of picks while it is slow, and its share again after it has recovered", () =>
    withKit("slow-node", async (kit) => {
      const backends = await kit.backends(6, { settings: FAST });
      const gateway = await kit.gateway({ workers: 2, servers: backends });
      const slow = backends[2];
      const load = startLoad(gateway, 45, { connections: 32 });
      await waitForStatus(gateway, "traffic", (nodes) => nodes.every((node) => node.totals.ok > 200));

      await slow.set(SLOW);
      await waitForStatus(gateway, "its lower weight", (nodes) => nodes[2].effective_weight < 0.5);
      const before = await picksOf(gateway);
      await waitForStatus(gateway, "10,000 picks more", (nodes) => {
        const total = nodes.reduce((sum, node) => sum + node.totals.picks, 0);
        return total > Object.values(before).reduce((sum, picks) => sum + picks, 0) + 10_000;
      });
      expect(share(before, await picksOf(gateway), slow.address)).toBeLessThan(0.01);

      await slow.set(FAST);
      await waitForStatus(
        gateway,
        "its share again (a fair share of the picks of the short window is 16.7 %)",
        (nodes) => (nodes[2].share ?? 0) > 0.1,
      );
      expect(failures(await load.done)).toBe(0);
    }));
});
