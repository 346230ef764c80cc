// Writes the tables of docs/health.md from core/health/states.ts and transitions.ts.
import { readFileSync, writeFileSync } from "node:fs";
import { healthTables } from "../ts-src/resty/ax/core/health/transitions";

const PAGE = new URL("../docs/health.md", import.meta.url);
const BEGIN = "<!-- tables: written by `npx tsx scripts/health-tables.ts` -->\n";
const END = "<!-- end of tables -->";

/** The page with the tables as the sources have them. */
export function withTables(page: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error("docs/health.md has lost the comments around its tables");
  return `${page.slice(0, begin + BEGIN.length)}\n${healthTables()}\n\n${page.slice(end)}`;
}

if (import.meta.url === `file://${process.argv[1] ?? ""}`) {
  writeFileSync(PAGE, withTables(readFileSync(PAGE, "utf8")));
}
