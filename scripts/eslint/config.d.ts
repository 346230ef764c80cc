import type { Linter } from "eslint";

export function makeConfig(root: string): Linter.Config[];
