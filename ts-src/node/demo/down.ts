/** Stops what `up` left running. */
import { runCommand } from "../cli/command";
import { stopAll } from "./state";

await runCommand("down", async () => {
  const stopped = await stopAll();
  process.stdout.write(stopped.length > 0 ? `stopped ${stopped.join(", ")}\n` : "nothing was running\n");
  return undefined;
});
