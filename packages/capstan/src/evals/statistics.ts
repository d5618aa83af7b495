// Confidence intervals for few cases and few attempts. All are exact or conservative, need no assumption about the
// distribution of the scores, and give the same result every time. See docs/evals.md for the reasons.

/** A confidence interval of 95 %. */
export type Interval = readonly [low: number, high: number];

const level = 0.95;
/** The quantile of the normal distribution for `level`. */
const z = 1.959964;
/** With more possibilities than this, a fixed sample of them is used. */
const maxSamples = 4096;
/** The subsets of more values than this are not listed. */
const maxListed = 12;

/**
 * Wilson's interval for a mean of values from 0 to 1. For values between 0 and 1 it is conservative: no distribution
 * with this mean varies more than that of 0 and 1.
 */
export function computeMeanInterval(values: readonly number[]): Interval {
  const count = values.length;
  if (count === 0) return [0, 1];
  const mean = computeMean(values);
  const shift = z ** 2 / count;
  const center = (mean + shift / 2) / (1 + shift);
  const margin = (z / (1 + shift)) * Math.sqrt((mean * (1 - mean)) / count + shift / (4 * count));
  return [clampScore(center - margin), clampScore(center + margin)];
}

/**
 * The interval of the mean of paired differences, by inverting the exact sign-flip test: the means of all subsets of the
 * differences divide the line into equally probable parts (Hartigan 1969). Fewer than six pairs give no finite interval.
 */
export function computePairedInterval(differences: readonly number[]): Interval {
  const count = differences.length;
  const total = 2 ** count - 1;
  if (total <= maxSamples) {
    const means = Array.from({ length: total }, (_, index) =>
      computeMean(differences.filter((_difference, position) => ((index + 1) >> position) & 1)),
    );
    return cutTails(means);
  }
  const random = createSeededRandom(count);
  const means = Array.from({ length: maxSamples - 1 }, () => {
    for (;;) {
      const subset = differences.filter(() => random() < 0.5);
      if (subset.length > 0) return computeMean(subset);
    }
  });
  return cutTails(means);
}

/**
 * The interval of the difference of two means, by inverting the exact permutation test: each exchange of equally many
 * values of the two samples has one shift at which it changes nothing. Fewer than four values each give no finite interval.
 */
export function computeDifferenceInterval(before: readonly number[], after: readonly number[]): Interval {
  const pairs = countPermutations(before.length, after.length) - 1;
  const isSmall = Math.max(before.length, after.length) <= maxListed;
  if (isSmall && pairs <= maxSamples) return cutTails(listExchanges(before, after));
  const random = createSeededRandom(before.length * 1000 + after.length);
  const shifts = Array.from({ length: maxSamples - 1 }, () => {
    for (;;) {
      const order = shuffle([...before.keys(), ...[...after.keys()].map((index) => -1 - index)], random);
      // The first ones stay or move to `before`; a value of `before` that is not among them moves to `after`.
      const kept = new Set(order.slice(0, before.length));
      const leaving = before.filter((_, index) => !kept.has(index));
      const arriving = after.filter((_, index) => kept.has(-1 - index));
      if (leaving.length > 0) return computeMean(arriving) - computeMean(leaving);
    }
  });
  return cutTails(shifts);
}

export function computeMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** Drops 2.5 % of the values at each end. Too few values allow no statement: scores differ by at most 1. */
function cutTails(values: number[]): Interval {
  const dropped = Math.floor(((1 - level) / 2) * (values.length + 1));
  if (dropped < 1) return [-1, 1];
  const sorted = values.sort((left, right) => left - right);
  return [roundScore(sorted[dropped - 1] ?? -1), roundScore(sorted.at(-dropped) ?? 1)];
}

function listExchanges(before: readonly number[], after: readonly number[]): number[] {
  const ofBefore = groupSubsets(before);
  return groupSubsets(after).flatMap((means, size) =>
    means.flatMap((mean) => (ofBefore[size] ?? []).map((other) => mean - other)),
  );
}

/** The means of all subsets that are not empty, by their size. */
function groupSubsets(values: readonly number[]): number[][] {
  const groups: number[][] = [];
  for (let bits = 1; bits < 2 ** values.length; bits++) {
    const subset = values.filter((_, position) => (bits >> position) & 1);
    const group = groups[subset.length] ?? [];
    groups[subset.length] = group;
    group.push(computeMean(subset));
  }
  return groups;
}

function countPermutations(left: number, right: number): number {
  let count = 1;
  for (let index = 1; index <= left; index++) count = (count * (right + index)) / index;
  return Math.round(count);
}

function shuffle(items: number[], random: () => number): number[] {
  for (let index = items.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [items[index], items[other]] = [items[other] ?? 0, items[index] ?? 0];
  }
  return items;
}

/** A small generator with a fixed seed (mulberry32), so that the same scores always give the same interval. */
function createSeededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function clampScore(value: number): number {
  return roundScore(Math.min(1, Math.max(0, value)));
}

/** Removes the noise of sums of binary fractions, so that equal means have a difference of 0. */
export function roundScore(value: number): number {
  return Math.round(value * 1e9) / 1e9 + 0;
}
