import type { ESLint } from "eslint";

declare const plugin: { rules: NonNullable<ESLint.Plugin["rules"]> };
export default plugin;
