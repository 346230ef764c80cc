/** A closed loop: clients that wait for an answer before they send the next request, as wrk does. */
import { pushEvent } from "./events";
import { Kind, type Simulation, type Timer } from "./simulation";

/**
 * Sets the job's clients to work.
 * @param end_ms nothing is sent from then on
 * @param begin sends a request of a client, now
 */
export function closeLoop(sim: Simulation, end_ms: number, begin: (this: void, client: number) => void): void {
  const { clients, think_ms, service } = sim.job;
  function sendAt(at_ms: number, client: number): void {
    const timer: Timer = {
      fire() {
        begin(client);
      },
    };
    if (at_ms < end_ms) pushEvent(sim.heap, at_ms, Kind.Timer, timer);
  }
  // Spread over the time of one request.
  for (let client = 0; client < clients; client++) sendAt((client * (service.mean_ms + think_ms)) / clients, client);
  const observer = sim.observer;
  sim.observer = {
    sent: observer.sent,
    ended(request, ok, now_ms) {
      observer.ended(request, ok, now_ms);
      if (request.client >= 0) sendAt(now_ms + think_ms, request.client);
    },
  };
}
