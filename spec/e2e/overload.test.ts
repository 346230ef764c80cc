import { describe, expect, it } from "vitest";
import { offer, rateOf, VIP_EVERY } from "../../ts-src/node/bench/two_classes";
import { waitFor, withKit } from "../../ts-src/node/testkit";
import { percentile } from "../../ts-src/node/testkit/openloop";
import { statusOf, waitForIdle } from "./support";

const NODES = 2;
const PLACES = 5;
/** Few requests a second: the nodes are to be the bottleneck, not the machine that runs all of this. */
const SERVICE_MS = 200;
const CAPACITY_RPS = (NODES * PLACES * 1000) / SERVICE_MS;

const QUEUE_SIZE = 175;

/** How much of it batch may fill (docs/admission.md). */
const BATCH_SHARE = 0.6;

/** Left out of the goodput: until the queue is full places may be empty. */
const EDGE_MS = 1000;
const DURATION_S = 5;

function sorted(values: number[]): number[] {
  return values.sort((a, b) => a - b);
}

describe("twice as much load as the nodes can take, on real nginx", () => {
  it.each([1, 2])(
    "serves the first class first, refuses at once what the queue has no room for, and recovers: %i workers",
    (workers) =>
      withKit(`overload-${workers}`, async (kit) => {
        const settings = { delay: { dist: "fixed", mean_ms: SERVICE_MS }, slots: PLACES } as const;
        const backends = await kit.backends(NODES, { settings });
        const nodes = backends.map(({ address }) => ({ address, max_conns: PLACES }));
        // Batch fills 60 %; what is left holds all of the first class, should the machine stop for a second or two.
        const queue = { size: QUEUE_SIZE, timeout_ms: 60_000 };
        const backend = { nodes, class_source: "header:X-Class", trust_client_class: true, queue };
        const gateway = await kit.gateway({ workers, servers: backends, ax: { upstreams: { backend } }, access: true });
        const idle = await offer(gateway.url, CAPACITY_RPS / 5, 1);
        const start_ms = performance.now();
        const { vip, batch } = await offer(gateway.url, 2 * CAPACITY_RPS, DURATION_S);
        const end_ms = performance.now();
        await waitFor("an empty queue", async () => {
          const { queue: line } = (await statusOf(gateway)).upstreams[0].admission as { queue: { waiting: number } };
          return line.waiting === 0;
        });
        const again = await gateway.get("/", { headers: { "X-Class": "batch" } });
        const recovered_ms = performance.now() - end_ms;

        const sent = 2 * CAPACITY_RPS * DURATION_S;
        expect([...vip.other, ...batch.other]).toEqual([]);
        const outcomes = [vip, batch].map(({ served_ms, refused_ms }) => served_ms.length + refused_ms.length);
        expect(outcomes).toEqual([sent / VIP_EVERY, sent - sent / VIP_EVERY]);
        expect(vip.reasons).toEqual({});
        expect(batch.reasons).toEqual({ queue_full: batch.refused_ms.length });
        // However slow the machine: what is served after the last refusal is what waited then, which is bounded.
        const refused_ms = Math.max(...batch.refused_at_ms);
        const late = [vip, batch].map(({ served_at_ms }) => served_at_ms.filter((t) => t > refused_ms).length);
        expect(late[1]).toBeLessThanOrEqual(BATCH_SHARE * QUEUE_SIZE + NODES * PLACES);
        expect(late[1]).toBeGreaterThan((BATCH_SHARE * QUEUE_SIZE) / 2);
        expect(again.status).toBe(200);
        // Order, not times: who is of the first class waits less than nearly anybody of the last.
        const vip_ms = sorted(vip.served_ms);
        const batch_ms = sorted(batch.served_ms);
        expect(percentile(vip_ms, 0.9)).toBeLessThan(percentile(batch_ms, 0.5));
        expect(percentile(sorted(batch.refused_ms), 0.5)).toBeLessThan(percentile(batch_ms, 0.5));
        for (const each of backends) expect((await each.counters()).max_active).toBeLessThanOrEqual(PLACES);

        const at_ms = [...vip.served_at_ms, ...batch.served_at_ms];
        const from_ms = start_ms + EDGE_MS;
        const goodput = rateOf(at_ms.filter((t) => t >= from_ms && t < start_ms + DURATION_S * 1000)) / CAPACITY_RPS;
        const idle_ms = sorted([...idle.vip.served_ms, ...idle.batch.served_ms]);
        console.log(
          `${workers} workers: goodput ${goodput.toFixed(3)} of capacity; first class P99 ${percentile(vip_ms, 0.99).toFixed(0)} ms ` +
            `(idle ${percentile(idle_ms, 0.99).toFixed(0)}); refused in ${percentile(batch.refused_ms, 0.5).toFixed(0)} ms (P50), ` +
            `${percentile(batch.refused_ms, 0.99).toFixed(0)} ms (P99); idle ${recovered_ms.toFixed(0)} ms after the last answer`,
        );
        await waitForIdle(gateway);
        expect((await statusOf(gateway)).faults).toEqual({});
      }),
  );
});
