import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { computeDifferenceInterval, computeMeanInterval, computePairedInterval } from "./statistics.ts";

describe("the interval of paired differences", () => {
  it("excludes zero for at most 5 % of the sign flips of any differences: the test is exact", () => {
    const size = 8;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: size, maxLength: size }), (steps) => {
        let wrong = 0;
        for (let bits = 0; bits < 2 ** size; bits++) {
          const flipped = steps.map((step, index) => ((bits >> index) & 1 ? step : -step) / 4);
          const [low, high] = computePairedInterval(flipped);
          if (low > 0 || high < 0) wrong++;
        }
        expect(wrong / 2 ** size).toBeLessThanOrEqual(0.05);
      }),
      { numRuns: 30 },
    );
  });

  it("says nothing about five cases, whatever they show, and something about six", () => {
    expect(computePairedInterval([1, 1, 1, 1, 1])).toEqual([-1, 1]);
    expect(computePairedInterval([1, 1, 1, 1, 1, 1])).toEqual([1, 1]);
    expect(computePairedInterval([1, 1, 1, 1, 1, 0])[0]).toBe(0);
  });

  it("does not count cases without a difference: six of 20 are enough, five are not", () => {
    const differences = (better: number) =>
      Array.from({ length: 20 }, (_, index) => (index < better ? 1 : 0));
    expect(computePairedInterval(differences(5))[0]).toBe(0);
    expect(computePairedInterval(differences(7))[0]).toBeGreaterThan(0);
    expect(computePairedInterval(differences(7))).toEqual(computePairedInterval(differences(7)));
  });
});

describe("the interval of the difference of two samples", () => {
  it("excludes zero for at most 5 % of the ways to divide any values", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 8, maxLength: 8 }), (values) => {
        let [wrong, total] = [0, 0];
        for (let bits = 0; bits < 256; bits++) {
          const left = values.filter((_, index) => (bits >> index) & 1).map((value) => value / 4);
          const right = values.filter((_, index) => !((bits >> index) & 1)).map((value) => value / 4);
          if (left.length !== 4) continue;
          total++;
          const [low, high] = computeDifferenceInterval(left, right);
          if (low > 0 || high < 0) wrong++;
        }
        expect(total).toBe(70);
        expect(wrong / total).toBeLessThanOrEqual(0.05);
      }),
      { numRuns: 30 },
    );
  });

  it("takes four attempts on each side to tell", () => {
    expect(computeDifferenceInterval([0, 0, 0], [1, 1, 1])).toEqual([-1, 1]);
    expect(computeDifferenceInterval([0, 0, 0, 0], [1, 1, 1, 1])).toEqual([1, 1]);
  });

  it("samples the exchanges of many attempts, the same ones every time", () => {
    const before = Array.from({ length: 30 }, (_, index) => (index % 3 === 0 ? 1 : 0));
    const after = before.map((value) => 1 - value);
    const [low, high] = computeDifferenceInterval(before, after);
    expect(low).toBeGreaterThan(0);
    expect(high).toBeLessThan(0.7);
    expect(computeDifferenceInterval(before, after)).toEqual([low, high]);
    const [none, some] = computeDifferenceInterval(before, before);
    expect(none).toBeLessThan(0);
    expect(some).toBeGreaterThan(0);
  });
});

describe("the interval of a mean", () => {
  it("is Wilson's, and never claims certainty", () => {
    expect(computeMeanInterval([])).toEqual([0, 1]);
    const [low, high] = computeMeanInterval(Array.from({ length: 10 }, () => 1));
    expect(low).toBeCloseTo(0.7225, 3);
    expect(high).toBe(1);
    const half = computeMeanInterval([0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    expect(half[0]).toBeCloseTo(0.2366, 3);
    expect(half[1]).toBeCloseTo(0.7634, 3);
  });
});
