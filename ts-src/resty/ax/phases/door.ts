import type { Hall } from "../dataplane/line";
import { setUpLine } from "../dataplane/line_sizes";
import type { Upstream } from "../dataplane/upstream";
import { newClassReader } from "../nginx/class_reader";

/** What access() needs of an upstream, made once per worker. init_worker phase. */
export function setUpDoor(hall: Hall, upstream: Upstream): void {
  const config = upstream.config;
  upstream.door.class_reader = newClassReader(config.class_source);
  setUpLine(hall, upstream);
  const header = config.queue?.deadline_header;
  if (header === undefined) return;
  const [name] = string.gsub(string.lower(header), "-", "_");
  upstream.door.deadline_variable = `http_${name}`;
}
