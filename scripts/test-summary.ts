/**
 * Adds up the results that scripts/test collected, one table row a suite, and prints "N passed, N failed" last.
 *
 *   tsx scripts/test-summary.ts DIR SUITE…    reads DIR/SUITE.json and DIR/SUITE.exit
 *
 * Exit code: 0 when nothing failed, 1 when something did, 2 on wrong usage.
 */
import Table from "cli-table3";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export interface SuiteResult {
  suite: string;
  passed: number;
  failed: number;
  skipped: number;
  duration_s: number;
  /** What was counted as failed though no test said so; empty when nothing was. */
  problem: string;
}

/** What a runner wrote, in one form. */
type Counts = Omit<SuiteResult, "suite" | "problem"> & { none?: boolean; problem?: string };

/** The part of vitest's JSON report that is read here. */
interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  startTime: number;
  testResults: { name: string; status: string; startTime: number; endTime: number; assertionResults: unknown[] }[];
}

const isVitest = (report: object): report is VitestReport => "testResults" in report;

function countVitest(report: VitestReport): Counts {
  // A file that does not load, or whose hook fails before its first test, holds no results to count.
  const broken = report.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0);
  const end = report.testResults.reduce((latest, file) => Math.max(latest, file.endTime), report.startTime);
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
    duration_s: (end - report.startTime) / 1000,
    problem: broken.map((file) => `did not run: ${file.name}`).join("; "),
  };
}

/**
 * One suite's counts. A runner that crashed, wrote nothing or ran no test counts as one failure.
 *
 * @param text the runner's report: JSON of vitest, or the counts themselves; undefined when there is no file
 * @param exit_code the runner's; undefined when it was not recorded
 */
export function readSuite(suite: string, text: string | undefined, exit_code: number | undefined): SuiteResult {
  const ended = exit_code === undefined ? "did not end" : `exit code ${exit_code}`;
  const nothing = { suite, passed: 0, failed: 1, skipped: 0, duration_s: 0 };
  if (text === undefined) return { ...nothing, problem: `wrote no results, ${ended}` };
  let counts: Counts;
  try {
    const report = JSON.parse(text) as VitestReport | Counts;
    counts = isVitest(report) ? countVitest(report) : report;
  } catch {
    return { ...nothing, problem: `wrote results that are not JSON, ${ended}` };
  }
  const { passed, failed, skipped, duration_s, problem = "" } = counts;
  const result = { suite, passed, failed, skipped, duration_s, problem };
  if (failed > 0) return result;
  if (passed + skipped === 0 && counts.none !== true) return { ...result, failed: 1, problem: `ran no test, ${ended}` };
  if (exit_code !== 0) return { ...result, failed: 1, problem: `all tests passed, but ${ended}` };
  return result;
}

/** @returns the last line: "N passed, N failed", with ", N skipped" when some were */
export function totalLine(results: SuiteResult[]): string {
  const sum = (key: "passed" | "failed" | "skipped"): number => results.reduce((total, r) => total + r[key], 0);
  const skipped = sum("skipped");
  return `${sum("passed")} passed, ${sum("failed")} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

function table(results: SuiteResult[]): string {
  const rows = new Table({
    head: ["suite", "passed", "failed", "skipped", "seconds", ""],
    style: { head: [], border: [] },
  });
  for (const r of results) rows.push([r.suite, r.passed, r.failed, r.skipped, r.duration_s.toFixed(1), r.problem]);
  return rows.toString();
}

function main([dir, ...suites]: string[]): number {
  if (dir === undefined || suites.length === 0) {
    console.error("usage: test-summary.ts DIR SUITE…");
    return 2;
  }
  const read = (name: string): string | undefined => {
    const path = join(dir, name);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  };
  const results = suites.map((suite) => {
    const exit_code = read(`${suite}.exit`);
    return readSuite(suite, read(`${suite}.json`), exit_code === undefined ? undefined : Number(exit_code));
  });
  console.log(table(results));
  console.log(totalLine(results));
  return results.some((result) => result.failed > 0) ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) process.exitCode = main(process.argv.slice(2));
