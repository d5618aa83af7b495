/** What a figure is of: names and values. */
export type LabelSet = Readonly<Record<string, string>>;

/** A metric in the text format of Prometheus. */
export interface Metric {
  text(): string;
}

/** Of one metric: what comes after so many kinds of figures is counted together. */
const mostSeries = 300;
const longestValue = 100;

/** A figure that only grows, for each set of labels. */
export function counter(name: string, help: string): Metric & { add(labels: LabelSet, by?: number): void } {
  const series = bounded(() => ({ value: 0 }));
  return {
    add(labels, by = 1) {
      series.of(labels).value += by;
    },
    text: () =>
      page(name, help, "counter") +
      [...series.all()].map(([key, { value }]) => line(name, key, value)).join(""),
  };
}

type Observed = { readonly counts: number[]; sum: number; count: number };

/** How often something took how long; `bounds` are the upper bounds, in rising order. */
export function histogram(
  name: string,
  help: string,
  bounds: readonly number[],
): Metric & { observe(labels: LabelSet, value: number): void } {
  const series = bounded((): Observed => ({ counts: bounds.map(() => 0), sum: 0, count: 0 }));
  const linesOf = ([key, { counts, sum, count }]: [string, Observed]) => {
    const bucket = (bound: string, value: number) =>
      line(`${name}_bucket`, joined(key, `le="${bound}"`), value);
    const buckets = bounds.map((bound, index) => bucket(String(bound), counts[index] ?? 0));
    return [
      ...buckets,
      bucket("+Inf", count),
      line(`${name}_sum`, key, sum),
      line(`${name}_count`, key, count),
    ].join("");
  };
  return {
    observe(labels, value) {
      const observed = series.of(labels);
      observed.sum += value;
      observed.count += 1;
      for (const [index, bound] of bounds.entries())
        if (value <= bound) observed.counts[index] = (observed.counts[index] ?? 0) + 1;
    },
    text: () => page(name, help, "histogram") + [...series.all()].map(linesOf).join(""),
  };
}

/** What is so at the moment: one figure, or one for each set of labels. */
export function gauge(
  name: string,
  help: string,
  value: number | readonly (readonly [LabelSet, number])[],
): Metric {
  const figures = typeof value === "number" ? ([[{}, value]] as const) : value;
  const type = name.endsWith("_total") ? "counter" : "gauge";
  return {
    text: () =>
      page(name, help, type) + figures.map(([labels, each]) => line(name, keyOf(labels), each)).join(""),
  };
}

/** Models and clients can make up any number of names: a set of labels too many becomes `other`. */
function bounded<Value>(fresh: () => Value): {
  of(labels: LabelSet): Value;
  all(): Iterable<[string, Value]>;
} {
  const series = new Map<string, Value>();
  return {
    all: () => series,
    of(labels) {
      const known = keyOf(labels);
      const key = series.has(known) || series.size < mostSeries ? known : keyOf(others(labels));
      const value = series.get(key) ?? fresh();
      series.set(key, value);
      return value;
    },
  };
}

function others(labels: LabelSet): LabelSet {
  return Object.fromEntries(Object.keys(labels).map((label) => [label, "other"]));
}

function keyOf(labels: LabelSet): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}="${escaped(value.slice(0, longestValue).toWellFormed())}"`)
    .join(",");
}

const joined = (key: string, label: string): string => (key ? `${key},${label}` : label);

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function page(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function line(name: string, key: string, value: number): string {
  return `${name}${key && `{${key}}`} ${value}\n`;
}
