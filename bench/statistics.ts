export function computeQuantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  const position = (sorted.length - 1) * share;
  const [low = Number.NaN, high = low] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return low + (high - low) * (position - Math.floor(position));
}

export const computeMedian = (values: readonly number[]): number => computeQuantile(values, 0.5);

/** The slope of the regression line on logarithmic axes: 1 is linear growth, 2 is quadratic. */
export function computeGrowthExponent(
  points: readonly { readonly size: number; readonly cost: number }[],
): number {
  const logs = points.map(({ size, cost }) => ({ x: Math.log(size), y: Math.log(cost) }));
  const computeMean = (pick: (log: { x: number; y: number }) => number) =>
    logs.reduce((sum, log) => sum + pick(log), 0) / logs.length;
  const [meanX, meanY] = [computeMean(({ x }) => x), computeMean(({ y }) => y)];
  const covariance = computeMean(({ x, y }) => (x - meanX) * (y - meanY));
  return covariance / computeMean(({ x }) => (x - meanX) ** 2);
}
