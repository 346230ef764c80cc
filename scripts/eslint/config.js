import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";
import { inCore, inLibrary, inNginx } from "./globals.js";
import ax from "./plugin.js";

const LIBRARY = "ts-src/resty";
const NODE_FILES = ["ts-src/node/**/*.ts", "spec/**/*.ts", "scripts/**/*.ts", "*.config.ts"];

const typed = (root, project) => ({ parserOptions: { project: [project], tsconfigRootDir: root } });
const rules = (level, ...names) => Object.fromEntries(names.map((name) => [name, level]));

/** Everywhere. */
const ALWAYS = {
  "no-duplicate-imports": ["error", { allowSeparateTypeImports: true }],
  ...rules(
    "error",
    "ax/disable-reason",
    "eqeqeq",
    "no-cond-assign",
    "no-constant-condition",
    "no-dupe-else-if",
    "no-empty",
    "no-fallthrough",
    "no-loss-of-precision",
    "no-self-assign",
    "no-self-compare",
    "no-sparse-arrays",
    "no-unreachable",
    "no-unsafe-finally",
    "no-useless-escape",
    "no-var",
    "prefer-const",
  ),
};

/** Everywhere in TypeScript. */
const COMMON = {
  ...ALWAYS,
  "ax/layers": "error",
  "@typescript-eslint/consistent-type-imports": "error",
  // `_name` says: this argument is part of a signature.
  "@typescript-eslint/no-unused-vars": [
    "error",
    { argsIgnorePattern: "^_", destructuredArrayIgnorePattern: "^_", caughtErrors: "none" },
  ],
};

/** Code that is compiled to Lua. */
const COMPILED = {
  ...rules(
    "error",
    "ax/array-holes",
    "ax/inline-comparator",
    "ax/no-class",
    "ax/no-coroutine",
    "ax/no-map-set",
    "ax/no-regex",
    "ax/no-unsigned-shift",
    "ax/string-length",
    "no-console",
    "@typescript-eslint/no-array-delete",
    "@typescript-eslint/no-for-in-array",
  ),
  "no-restricted-globals": ["error", ...inLibrary],
  "no-restricted-properties": [
    "error",
    ...["Math", "math"].map((object) => ({ object, property: "random", message: "Draw from a Random (core/random)." })),
  ],
  // 0, "" and NaN are true in Lua.
  "@typescript-eslint/strict-boolean-expressions": [
    "error",
    {
      allowString: false,
      allowNumber: false,
      allowNullableObject: true,
      allowNullableBoolean: true,
      allowNullableString: false,
      allowNullableNumber: false,
      allowNullableEnum: false,
      allowAny: false,
    },
  ],
  // Lua's < sorts numbers as numbers, JavaScript's default sorts them as text.
  "@typescript-eslint/require-array-sort-compare": ["error", { ignoreStringArrays: true }],
  "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
  "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
  "@typescript-eslint/no-invalid-void-type": ["error", { allowAsThisParameter: true }],
  // Types say that record["absent"] and array[n] are there; the checks that they are must stay.
  "@typescript-eslint/no-unnecessary-condition": "off",
  // Bytes of strings are numbers, and their names are const enums.
  "@typescript-eslint/no-unsafe-enum-comparison": "off",
  // Removing a key from a record is what Lua tables are for. Arrays have no-array-delete.
  "@typescript-eslint/no-dynamic-delete": "off",
  "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
  "max-lines-per-function": ["error", { max: 50, skipBlankLines: true, skipComments: true }],
};

/**
 * The lint configuration of a tree laid out like this repository.
 *
 * @param {string} root absolute path; the tree's tstl.json and tsconfig.json give the types
 */
export function makeConfig(root) {
  return defineConfig(
    { ignores: ["**/node_modules/", ".build/", "lua-out/", "**/*.d.ts"] },
    { linterOptions: { reportUnusedDisableDirectives: "error" } },
    { plugins: { ax } },
    {
      files: ["**/*.js"],
      rules: { ...ALWAYS, "no-unused-vars": "error", "no-use-before-define": ["error", "nofunc"] },
    },
    {
      files: NODE_FILES,
      extends: [tseslint.configs.recommendedTypeChecked],
      languageOptions: typed(root, "tsconfig.json"),
      rules: COMMON,
    },
    {
      files: [`${LIBRARY}/**/*.ts`],
      extends: [tseslint.configs.strictTypeChecked],
      languageOptions: typed(root, "tstl.json"),
      rules: { ...COMMON, ...COMPILED },
    },
    {
      // Compiled to Lua as well, but a program of its own: it may read and write files.
      files: ["ts-src/sim/**/*.ts"],
      extends: [tseslint.configs.strictTypeChecked],
      languageOptions: typed(root, "tstl.sim.json"),
      rules: { ...COMMON, ...COMPILED, "no-restricted-globals": "off" },
    },
    {
      files: [`${LIBRARY}/ax/nginx/**/*.ts`],
      rules: { "no-restricted-globals": ["error", ...inNginx] },
    },
    {
      files: [`${LIBRARY}/ax/core/**/*.ts`],
      rules: { "no-restricted-globals": ["error", ...inCore] },
    },
    // What runs per request, or beside what does.
    {
      files: ["core", "phases", "dataplane", "nginx"].map((layer) => `${LIBRARY}/ax/${layer}/**/*.ts`),
      rules: rules("error", "ax/no-switch", "ax/no-try"),
    },
    {
      files: ["core/strategies/**", "core/pool*", "dataplane/**", "phases/**"].map(
        (path) => `${LIBRARY}/ax/${path}.ts`,
      ),
      // They run once, at start.
      ignores: [`${LIBRARY}/ax/phases/init*.ts`],
      rules: rules("error", "ax/hot-loops"),
    },
  );
}
