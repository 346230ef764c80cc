import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { withTables } from "../../scripts/health-tables";
import { STATES, stateNamed } from "../../ts-src/resty/ax/core/health/states";
import { TRANSITIONS } from "../../ts-src/resty/ax/core/health/transitions";

describe("node states", () => {
  it("have their tables in docs/health.md as the sources have them", () => {
    const page = readFileSync(new URL("../../docs/health.md", import.meta.url), "utf8");
    expect(page).toBe(withTables(page));
  });

  it("can all be reached and left", () => {
    for (const state of Object.keys(STATES)) {
      // A node is pending from its first sight on.
      if (state !== "pending") expect(TRANSITIONS.some(({ to }) => to === state)).toBe(true);
      expect(TRANSITIONS.some(({ from, to }) => to !== state && from.some((name) => name === state))).toBe(true);
    }
  });

  it("are understood by the names of older releases", () => {
    expect(stateNamed("up")).toBe("online");
    expect(stateNamed("down")).toBe("offline");
    expect(stateNamed("best")).toBeUndefined();
    expect(stateNamed(7)).toBeUndefined();
  });
});
