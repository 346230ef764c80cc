import { describe, expect, it } from "vitest";
import { newProgress, roughly } from "../../ts-src/node/bench/progress";

describe("time left of a benchmark", () => {
  it("is the estimate at first", () => {
    expect(newProgress(600, () => 7).left()).toBe("about 10 min left");
  });

  it("grows with how slow the parts done were", () => {
    let now_s = 100;
    const progress = newProgress(600, () => now_s);
    now_s = 300;
    progress.done(100);
    expect(progress.left()).toBe("about 17 min left");
  });

  it("does not trust parts that were faster than estimated", () => {
    let now_s = 0;
    const progress = newProgress(200, () => now_s);
    now_s = 10;
    progress.done(100);
    expect(progress.left()).toBe("about 2 min left");
  });

  it("is never negative", () => {
    const progress = newProgress(10, () => 0);
    progress.done(20);
    expect(progress.left()).toBe("about 0 s left");
  });

  it("is as exact as an estimate is", () => {
    expect([3, 31, 89, 91, 125].map(roughly)).toEqual(["5 s", "35 s", "2 min", "2 min", "3 min"]);
  });
});
