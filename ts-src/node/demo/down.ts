/** Stops what `up` left running. */
import { stopAll } from "./state";

const stopped = await stopAll();
process.stdout.write(stopped.length > 0 ? `stopped ${stopped.join(", ")}\n` : "nothing was running\n");
