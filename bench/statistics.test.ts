import { expect, it } from "vitest";
import { growthExponent, median, quantile } from "./statistics.ts";

it("a quantile lies between its neighbours, and the median in the middle", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(quantile([0, 10], 0.99)).toBeCloseTo(9.9);
  expect(median([])).toBeNaN();
});

it.each([1, 1.5, 2])("a cost that grows with the power %d has that exponent", (power) => {
  const points = [25, 50, 100, 200].map((size) => ({ size, cost: 7 * size ** power }));
  expect(growthExponent(points)).toBeCloseTo(power);
});
