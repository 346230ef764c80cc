/** The benchmark's HTML page: one file that opens without a server and without a network. */
import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import pc from "picocolors";
import { QUANTILES } from "../testkit";
import { type Machine, machineLine } from "./machine";
import { SHARE_EVERY_MS } from "./measure";
import type { ScenarioResult } from "./results";
import { resultText } from "./table";

/** What the script in the page draws. */
export interface PageData {
  quantiles: number[];
  share_every_ms: number;
  results: ScenarioResult[];
}

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

async function pageScript(): Promise<string> {
  const built = await build({
    entryPoints: [join(import.meta.dirname, "page_script.ts")],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
  });
  return built.outputFiles[0].text.replaceAll("</script", "<\\/script");
}

function section(result: ScenarioResult): string {
  const text = escape(resultText(result, pc.createColors(false)));
  return `<h2>${escape(result.scenario)}</h2>\n<pre>${text}</pre>\n<div id="charts-${escape(result.scenario)}"></div>`;
}

export async function htmlPage(machine: Machine, results: ScenarioResult[]): Promise<string> {
  const require = createRequire(import.meta.url);
  const style = readFileSync(join(require.resolve("uplot"), "..", "uPlot.min.css"), "utf8");
  const data: PageData = { quantiles: QUANTILES, share_every_ms: SHARE_EVERY_MS, results };
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Benchmark</title>
<style>${style}
body { font: 15px system-ui, sans-serif; margin: 2em; }
pre { overflow-x: auto; line-height: 1.2; }
</style>
<h1>Benchmark</h1>
<p>${escape(machineLine(machine))}</p>
<p>Gateways of the same scenario had the same nodes and took turns. Shares over time are of the last repetition.</p>
${results.map(section).join("\n")}
<script type="application/json" id="data">${JSON.stringify(data).replaceAll("<", "\\u003c")}</script>
<script>${await pageScript()}</script>
</html>
`;
}
