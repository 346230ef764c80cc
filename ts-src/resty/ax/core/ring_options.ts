import type { FieldSchema } from "./config/schema";
import { POINTS_PER_NODE } from "./ring";

/** The option `points_per_node` of every strategy with a ring. */
export const pointsPerNode: FieldSchema = {
  kind: "number",
  integer: true,
  min: 1,
  max: 2000,
  default: POINTS_PER_NODE,
  doc:
    "Points of each node on the ring. More make shares more even and the ring larger: 8 bytes a point and worker. " +
    "All gateways need the same number.",
  reason: "libketama's and nginx's number: shares differ by about 8 %",
};
