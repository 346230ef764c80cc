/** The benchmark's HTML page. */
import { join } from "node:path";
import { escapeHtml, pageHtml, tableHtml } from "../page/html";
import { QUANTILES } from "../testkit";
import { type Machine, machineLine } from "./machine";
import type { Picks } from "./picks";
import type { ScenarioResult } from "./results";
import type { Figures } from "./run_all";
import { failureLines, lagLines, loadLine, pickCells, PICKS_ABOUT, resultCells, targetLines } from "./table";
import { SHARE_EVERY_MS } from "./watch";

/** What the script in the page draws. */
export interface PageData {
  quantiles: number[];
  share_every_ms: number;
  results: ScenarioResult[];
}

function line(text: string, kind?: string): string {
  return kind === undefined ? `<p>${escapeHtml(text)}</p>` : `<p class="${kind}">${escapeHtml(text)}</p>`;
}

function scenarioHtml(result: ScenarioResult): string {
  const { head, rows } = resultCells(result);
  return [
    line(result.about),
    line(loadLine(result), "quiet"),
    rows.length > 0 ? tableHtml(head, rows) : "",
    ...[...failureLines(result), ...lagLines(result)].map((text) => line(text, "bad")),
    ...targetLines(result).map((text) => line(text, text.startsWith("holds") ? "good" : "bad")),
    `<div class="charts" id="charts-${escapeHtml(result.scenario)}"></div>`,
  ].join("\n");
}

function picksHtml(picks: Picks): string {
  const { head, rows } = pickCells(picks);
  return `${line(PICKS_ABOUT)}\n${tableHtml(head, rows)}\n${line(`JIT check of the hot paths: ${picks.jit}`, "quiet")}`;
}

/** @returns the page's text */
export function htmlPage(machine: Machine, { picks, results, problems }: Figures): Promise<string> {
  const data: PageData = { quantiles: QUANTILES, share_every_ms: SHARE_EVERY_MS, results };
  return pageHtml({
    title: "Benchmark",
    intro: [
      line(machineLine(machine), "quiet"),
      line(
        "Gateways of the same scenario had the same nodes and took turns. Figures are medians of the repetitions, " +
          "ratios are to the first row. Shares over time are of the last repetition.",
      ),
      ...problems.map((problem) => line(`FAILED: ${problem}`, "bad")),
    ].join("\n"),
    sections: [
      ...(picks === undefined ? [] : [{ id: "pick", html: picksHtml(picks) }]),
      ...results.map((result) => ({ id: result.scenario, html: scenarioHtml(result) })),
    ],
    data,
    script: join(import.meta.dirname, "page_script.ts"),
  });
}
