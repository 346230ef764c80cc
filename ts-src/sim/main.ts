/**
 * One simulation: a Job as JSON on standard input, its Result as JSON on standard output.
 *
 *   LUA_PATH="lua-out/?.lua;.build/sim-lua/?.lua;;" luajit .build/sim-lua/sim/main.lua <job.json
 */
import * as cjson from "cjson.safe";
import { simulate } from "./engine";
import type { Job } from "./job";

const json = cjson.new();
const [job, problem] = json.decode(io.read("*a") as string);
if (job === undefined || job === null) error(`not a job: ${problem ?? "null"}`, 0);
const [text] = json.encode(simulate(job as Job));
io.write(text as string, "\n");
