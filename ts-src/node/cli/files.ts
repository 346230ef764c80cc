/** Files that commands write their results to. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** A page with the charts of all scenarios takes about half as much. */
const ROOM_BYTES = 1 << 20;

/** What the system says is wrong with a file, without its code and its call: "no space left on device". */
export function systemReason(error: unknown): string {
  const { message } = error as Error;
  return /^E[A-Z0-9]+: (.*?), \w+/.exec(message)?.[1] ?? message;
}

/** What cannot be removed was not made: a full or read-only disk, or no directory. */
function removeDraft(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The error that was met before says more.
  }
}

/**
 * Writes a whole file or none: somebody may be looking at the one that is there.
 * @throws Error in one line, with the path and the system's reason
 */
export function replaceFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, text);
    renameSync(draft, path);
  } catch (error) {
    throw new Error(`cannot write ${path}: ${systemReason(error)}`, { cause: error });
  } finally {
    removeDraft(draft);
  }
}

/**
 * Finds out whether results can be written, before they are worked for: makes their directories, and a file of the
 * size that they may have.
 * @throws Error in one line, with the path and the system's reason
 */
export function checkWritable(path: string): void {
  const trial = `${path}.${process.pid}.trial`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(trial, Buffer.alloc(ROOM_BYTES, 1));
  } catch (error) {
    throw new Error(`cannot write ${path}: ${systemReason(error)}`, { cause: error });
  } finally {
    removeDraft(trial);
  }
}
