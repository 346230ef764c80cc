/** Stops what `up` left running. */
import { stopAll } from "./state";

try {
  const stopped = await stopAll();
  process.stdout.write(stopped.length > 0 ? `stopped ${stopped.join(", ")}\n` : "nothing was running\n");
} catch (error) {
  process.stderr.write(`down: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
