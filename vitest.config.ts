import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "node",
          include: ["spec/node/**/*.test.ts"],
          // A net for what hangs. Two thousand inputs take seconds where other programs have the cores.
          testTimeout: 120_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Real nginx processes: one file at a time, after the others, so that files do not compete for the cores.
        test: {
          name: "e2e",
          include: ["spec/e2e/**/*.test.ts"],
          fileParallelism: false,
          // Scenarios that run side by side within a file (health): with five, two cores are short at times.
          maxConcurrency: 3,
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        // Containers (scripts/with-docker): images are built once, by the first file that needs them.
        test: {
          name: "docker",
          include: ["spec/docker/**/*.test.ts"],
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          testTimeout: 180_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
