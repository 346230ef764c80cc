/** Pages of results: one file each, with everything in it, that opens without a server and without a network. */
import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** Safe between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/**
 * A table whose first column is text and whose others are figures. It scrolls where the page is too narrow.
 * @param text_last the last column is text too
 */
export function tableHtml(head: string[], rows: string[][], text_last = false): string {
  const line = (cells: string[], tag: string): string =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join("")}</tr>`;
  const body = rows.map((cells) => line(cells, "td")).join("\n");
  return `<div class="scroll"><table${text_last ? ' class="text-last"' : ""}>\n<thead>${line(head, "th")}</thead>\n<tbody>\n${body}\n</tbody></table></div>`;
}

const STYLE = `
:root { color-scheme: light dark; --text: #1c1e21; --back: #ffffff; --quiet: #5c6370; --line: #d8dbe0; --bad: #b3261e; --good: #136c3a; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e6ea; --back: #15171a; --quiet: #a2a9b4; --line: #363b42; --bad: #ff8a80; --good: #6fd39a; }
}
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; padding: 1.5rem; max-width: 1500px; color: var(--text); background: var(--back); }
h1 { margin-top: 0; }
h2 { margin: 2.5rem 0 0.25rem; border-top: 1px solid var(--line); padding-top: 1rem; }
p { margin: 0.35rem 0; }
.quiet { color: var(--quiet); }
.bad { color: var(--bad); }
.good { color: var(--good); }
nav a { margin-right: 0.9em; white-space: nowrap; color: inherit; }
.scroll { overflow-x: auto; margin: 0.75rem 0; }
.scroll table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
.scroll th, .scroll td { text-align: right; padding: 0.25em 0.7em; border-bottom: 1px solid var(--line); white-space: nowrap; }
.scroll th { vertical-align: bottom; white-space: pre-line; }
.scroll td { white-space: pre; vertical-align: top; }
.scroll .text-last th:last-child, .scroll .text-last td:last-child { text-align: left; }
.scroll th:first-child, .scroll td:first-child { text-align: left; padding-left: 0; position: sticky; left: 0; background: var(--back); }
pre { overflow-x: auto; line-height: 1.2; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 560px), 1fr)); gap: 1.5rem; margin-top: 1rem; }
.charts > * { min-width: 0; }
.chart h3 { font-size: 15px; margin: 0 0 0.25rem; }
.u-legend { text-align: left; font-size: 13px; }
.u-legend th { font-weight: normal; }
.u-legend .u-value { min-width: 3.5em; display: inline-block; }
`;

async function bundled(entry: string): Promise<string> {
  const built = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
  });
  // Inside a script element nothing but its end tag has a meaning.
  return built.outputFiles[0].text.replaceAll("</script", "<\\/script");
}

export interface PageParts {
  title: string;
  /** HTML. */
  intro: string;
  sections: { id: string; html: string }[];
  /** What the script finds in the element "data", as JSON. */
  data: unknown;
  /** Path of the script that runs in the browser, TypeScript. */
  script: string;
}

/** Text of the page. */
export async function pageHtml({ title, intro, sections, data, script }: PageParts): Promise<string> {
  const require = createRequire(import.meta.url);
  const chart_style = readFileSync(join(require.resolve("uplot"), "..", "uPlot.min.css"), "utf8");
  const links = sections.map(({ id }) => `<a href="#${escapeHtml(id)}">${escapeHtml(id)}</a>`);
  const bodies = sections.map(({ id, html }) => `<h2 id="${escapeHtml(id)}">${escapeHtml(id)}</h2>\n${html}`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${chart_style}${STYLE}</style>
<h1>${escapeHtml(title)}</h1>
${intro}
${links.length > 1 ? `<nav>${links.join(" ")}</nav>` : ""}
${bodies.join("\n")}
<script type="application/json" id="data">${JSON.stringify(data).replaceAll("<", "\\u003c")}</script>
<script>${await bundled(script)}</script>
</html>
`;
}
