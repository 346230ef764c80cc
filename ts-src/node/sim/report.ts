/** The simulator's HTML page. */
import { join } from "node:path";
import pc from "picocolors";
import type { Series } from "../../sim/job";
import { escapeHtml, pageHtml, tableHtml } from "../page/html";
import type { Summary } from "./summary";
import { faultLines, loadLine, summaryCells } from "./table";

export interface ReportRun {
  player: string;
  series: Series;
}

/** What the page draws: of each player the run with the first seed. */
export interface Report {
  scenarios: { name: string; runs: ReportRun[] }[];
}

function section(summary: Summary): string {
  const { head, rows } = summaryCells(summary, pc.createColors(false));
  return [
    `<p>${escapeHtml(summary.description)}</p>`,
    `<p class="quiet">${escapeHtml(loadLine(summary))}</p>`,
    tableHtml(head, rows, true),
    ...faultLines(summary).map((line) => `<p class="bad">${escapeHtml(line)}</p>`),
    `<div class="charts" id="charts-${escapeHtml(summary.scenario)}"></div>`,
  ].join("\n");
}

/** @returns the page's text */
export function htmlReport(summaries: Summary[], report: Report): Promise<string> {
  return pageHtml({
    title: "Simulation",
    intro:
      "<p>Tables are over all seeds. Charts are of the first seed: latency of each strategy and bound over time, " +
      "then who gets the requests, and the weights that one worker goes by.</p>",
    sections: summaries.map((summary) => ({ id: summary.scenario, html: section(summary) })),
    data: report,
    script: join(import.meta.dirname, "report_page.ts"),
  });
}
