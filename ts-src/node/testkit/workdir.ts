import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Top of the source tree. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

/** The kit's nginx configurations and Lua. */
export const KIT_DIR = join(ROOT, "nginx", "testkit");

/** What runs leave behind lives here; ignored by git. */
export const RUN_DIR = join(ROOT, ".build", "run");

/** A fresh directory under .build/run, or under `parent`. Its name starts with `label`. */
export function newDir(label: string, parent: string = RUN_DIR): string {
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, `${label.replace(/[^A-Za-z0-9_.-]+/g, "-").slice(0, 40)}-`));
}

/** Tries again when a process that is just ending still writes into it. */
export function removeDir(dir: string): void {
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
}

/** The file's text; empty when there is no such file (yet). */
export function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

/**
 * Fills in `{{word}}` in a configuration template. An empty value leaves an empty line.
 * @throws Error when the template has a word that `words` has not
 */
export function render(template: string, words: Record<string, string | number>): string {
  return template.replace(/\{\{(\w+)\}\}/g, (_, word: string) => {
    const value = words[word];
    if (value === undefined) throw new Error(`template word {{${word}}} has no value`);
    return String(value);
  });
}
