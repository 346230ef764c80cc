import { makeConfig } from "./scripts/eslint/config.js";

export default makeConfig(import.meta.dirname);
