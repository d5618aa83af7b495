import { expect, it } from "vitest";
import { computeGrowthExponent, computeMedian, computeQuantile } from "./statistics.ts";

it("computes quantiles and medians", () => {
  expect(computeMedian([3, 1, 2])).toBe(2);
  expect(computeMedian([4, 1, 2, 3])).toBe(2.5);
  expect(computeQuantile([0, 10], 0.99)).toBeCloseTo(9.9);
  expect(computeMedian([])).toBeNaN();
});

it.each([1, 1.5, 2])("a cost that grows with the power of %d has this exponent", (power) => {
  const points = [25, 50, 100, 200].map((size) => ({ size, cost: 7 * size ** power }));
  expect(computeGrowthExponent(points)).toBeCloseTo(power);
});
