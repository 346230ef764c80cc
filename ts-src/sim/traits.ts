/** What each request is like. Drawn before anybody decides where it goes, so that all strategies get the same. */
import { draw, newRandom, type Random } from "../resty/ax/core/random";
import { drawDemand, exponential } from "./arrivals";
import type { Job } from "./job";
import { addressOf, drawKey, type KeyDraws, newKeyDraws } from "./keys";
import type { SimRequest } from "./simulation";

/** Every trait has a generator of its own: another key leaves the work of all requests as it was. */
export interface Traits {
  demands: Random;
  kinds: Random;
  key_random: Random;
  keys: KeyDraws;
}

/** @param seeds of the three generators */
export function newTraits(job: Job, seeds: [number, number, number]): Traits {
  return {
    demands: newRandom(seeds[0]),
    kinds: newRandom(seeds[1]),
    key_random: newRandom(seeds[2]),
    keys: newKeyDraws(job.keys),
  };
}

/** @returns number of a class; -1 when the job has none */
function drawClass(job: Job, random: Random): number {
  let left = draw(random);
  for (let k = 0; k < job.classes.length; k++) {
    left -= job.classes[k].share;
    if (left < 0) return k;
  }
  return job.classes.length - 1;
}

/**
 * The next request.
 * @param client who sends it in a closed loop; -1 in an open one
 */
export function newRequest(traits: Traits, job: Job, id: number, client: number, now_ms: number): SimRequest {
  const demand_ms = drawDemand(job.service, traits.demands);
  const class_at = job.classes.length > 0 ? drawClass(job, traits.kinds) : -1;
  const streams = job.streams.share > 0 && draw(traits.kinds) < job.streams.share;
  const key = drawKey(traits.keys, traits.key_random, id);
  return {
    id,
    client,
    born_ms: now_ms,
    demand_ms: class_at >= 0 ? demand_ms * job.classes[class_at].work : demand_ms,
    class_at,
    stream_ms: streams ? exponential(traits.kinds, job.streams.mean_s * 1000) : 0,
    key,
    address: addressOf(job.keys, key, now_ms),
    answered_ms: -1,
    was_hit: false,
    refused: "",
    worker: undefined,
    record: undefined,
    tries: [],
  };
}
