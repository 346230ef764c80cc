import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import pc from "picocolors";
import type { Series } from "../../sim/job";
import type { Summary } from "./summary";
import { summaryTable } from "./table";

export interface ReportRun {
  player: string;
  series: Series;
}

/** What the page draws: of each player the run with the first seed. */
export interface Report {
  scenarios: { name: string; runs: ReportRun[] }[];
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

async function pageScript(): Promise<string> {
  const built = await build({
    entryPoints: [join(import.meta.dirname, "report_page.ts")],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
  });
  return built.outputFiles[0].text;
}

function section(summary: Summary): string {
  return [
    `<h2>${escape(summary.scenario)}</h2>`,
    `<pre>${escape(summaryTable(summary, pc.createColors(false)))}</pre>`,
    `<div id="charts-${escape(summary.scenario)}"></div>`,
  ].join("\n");
}

/** One file with everything in it: opens without a server and without a network. */
export async function htmlReport(summaries: Summary[], report: Report): Promise<string> {
  const require = createRequire(import.meta.url);
  const style = readFileSync(join(require.resolve("uplot"), "..", "uPlot.min.css"), "utf8");
  const script = (await pageScript()).replaceAll("</script", "<\\/script");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Simulation</title>
<style>${style}
body { font: 15px system-ui, sans-serif; margin: 2em; }
pre { overflow-x: auto; line-height: 1.2; }
</style>
<h1>Simulation</h1>
<p>Latency over time, share of requests and weights by node, of the first seed of each strategy.</p>
${summaries.map(section).join("\n")}
<script type="application/json" id="data">${JSON.stringify(report).replaceAll("<", "\\u003c")}</script>
<script>${script}</script>
</html>
`;
}
