/** How every command ends: with one line on stderr when something is wrong, and with what it started stopped. */
import { writeSync } from "node:fs";
import { onUncleanExit } from "../testkit/child";
import { UsageError } from "./arguments";
import { systemReason } from "./files";

export interface CommandOptions {
  /** Where a progress display is shown. It hides the cursor, and Ctrl-C may end it at any time. */
  display?: { isTTY?: boolean; fd: number };
  /** The text of an error; its message by default. */
  explain?: (error: unknown) => string;
}

/** Nobody reads any more (`| head`), or the file that takes the output cannot be written. */
function endOnLostOutput(name: string): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") process.stderr.write(`${name}: cannot write the output: ${systemReason(error)}\n`);
    // As Ctrl-C does: what was started is stopped, and its files go.
    process.kill(process.pid, "SIGINT");
  });
}

/**
 * Runs a command to its end. Exit code: 0; 1 when it says that not all is well, or fails; 2 when it was asked for
 * something that it cannot do.
 *
 * @param name stands before what goes wrong: "bench: …"
 * @param main false = not all is well, and that has been said
 */
export async function runCommand(
  name: string,
  main: () => Promise<boolean | undefined>,
  { display, explain = systemReason }: CommandOptions = {},
): Promise<void> {
  endOnLostOutput(name);
  const forgetCursor = onUncleanExit(() => {
    if (display?.isTTY === true) writeSync(display.fd, "\x1b[?25h\n");
  });
  try {
    if ((await main()) === false) process.exitCode = 1;
  } catch (error) {
    process.stderr.write(`${name}: ${explain(error).trim()}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  } finally {
    forgetCursor();
  }
}
