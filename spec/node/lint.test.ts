import { ESLint } from "eslint";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeConfig } from "../../scripts/eslint/config.js";
import plugin from "../../scripts/eslint/plugin.js";
import { SNIPPETS, type Snippet } from "./lint.snippets";

/**
 * Every lint rule against code that must make it speak: a rule that falls silent (an option renamed, the syntax tree changed,
 * a glob that no longer matches) fails here. The snippets are linted in one tree laid out like this one, so that the
 * configuration's globs and the types apply.
 */
const REPO = resolve(import.meta.dirname, "../..");
let tree = "";
const reported = new Map<string, string[]>();

function pathOf({ at }: Snippet, index: number): string {
  const start = at.endsWith("*") ? at.slice(0, -1) : `${at}/`;
  return join(tree, "ts-src", `${start}snippet_${index}.ts`);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function writeProject(name: string, include: string[]): void {
  const compilerOptions = { rootDir: "/", typeRoots: [join(REPO, "node_modules")] };
  write(join(tree, name), JSON.stringify({ extends: join(REPO, name), compilerOptions, include }));
}

const rulesOf = (result: ESLint.LintResult): string[] =>
  result.messages
    .map((message) => message.ruleId ?? `fatal: ${message.message}`)
    // Snippets use one parameter each.
    .filter((rule) => rule !== "@typescript-eslint/no-unused-vars");

beforeAll(async () => {
  mkdirSync(join(REPO, ".build"), { recursive: true });
  // Inside the repository: imported types are looked for in the node_modules above.
  tree = mkdtempSync(join(REPO, ".build", "lint-"));
  writeProject("tstl.json", ["ts-src/resty", join(REPO, "ts-src/types")]);
  writeProject("tsconfig.json", ["ts-src/node"]);
  write(join(tree, "ts-src/resty/ax/core/ok.ts"), "export const ok = 1;\n");
  for (const [i, snippet] of SNIPPETS.entries()) write(pathOf(snippet, i), snippet.code);

  const eslint = new ESLint({ cwd: tree, overrideConfigFile: true, overrideConfig: makeConfig(tree) });
  for (const result of await eslint.lintFiles(["ts-src"])) reported.set(result.filePath, rulesOf(result));
  // Type-aware linting of the whole tree; the limit is there for a hang only.
}, 120_000);

afterAll(() => rmSync(tree, { recursive: true, force: true }));

describe("the linter", () => {
  for (const [i, snippet] of SNIPPETS.entries()) {
    const { trap, rule } = snippet;
    if (rule === undefined) {
      it(`accepts ${trap}`, () => expect(reported.get(pathOf(snippet, i))).toEqual([]));
    } else {
      it(`reports ${trap}: ${rule}`, () => expect(reported.get(pathOf(snippet, i))).toContain(rule));
    }
  }
});

describe("our own rules", () => {
  const guide = readFileSync(join(REPO, "docs/development.md"), "utf8");
  for (const rule of Object.keys(plugin.rules).map((name) => `ax/${name}`)) {
    it(`include ${rule}, which has a snippet here and a line in the developers' guide`, () => {
      expect(SNIPPETS.map((snippet) => snippet.rule)).toContain(rule);
      expect(guide).toContain(`\`${rule}\``);
    });
  }
});
