// Hand-written instead of `prom-client`, which does not bound the number of label sets per metric.

export type LabelSet = Readonly<Record<string, string>>;

/** A metric in the Prometheus text format. */
export interface Metric {
  format(): string;
}

/** Max number of label sets per metric; further ones are counted as `other`. */
const maxSeries = 300;
const maxLabelLength = 100;

/** Creates a counter per label set. */
export function createCounter(
  name: string,
  help: string,
): Metric & { add(labels: LabelSet, by?: number): void } {
  const series = createSeries(() => ({ value: 0 }));
  return {
    add(labels, by = 1) {
      series.get(labels).value += by;
    },
    format: () =>
      formatHeader(name, help, "counter") +
      [...series.all()].map(([key, { value }]) => formatSample(name, key, value)).join(""),
  };
}

type Observations = { readonly counts: number[]; sum: number; count: number };

/** Creates a histogram; `bounds` are upper bounds in ascending order. */
export function createHistogram(
  name: string,
  help: string,
  bounds: readonly number[],
): Metric & { observe(labels: LabelSet, value: number): void } {
  const series = createSeries((): Observations => ({ counts: bounds.map(() => 0), sum: 0, count: 0 }));
  const formatSeries = ([key, { counts, sum, count }]: [string, Observations]) => {
    const formatBucket = (bound: string, value: number) =>
      formatSample(`${name}_bucket`, appendLabel(key, `le="${bound}"`), value);
    const buckets = bounds.map((bound, index) => formatBucket(String(bound), counts[index] ?? 0));
    return [
      ...buckets,
      formatBucket("+Inf", count),
      formatSample(`${name}_sum`, key, sum),
      formatSample(`${name}_count`, key, count),
    ].join("");
  };
  return {
    observe(labels, value) {
      const observed = series.get(labels);
      observed.sum += value;
      observed.count += 1;
      for (const [index, bound] of bounds.entries())
        if (value <= bound) observed.counts[index] = (observed.counts[index] ?? 0) + 1;
    },
    format: () => formatHeader(name, help, "histogram") + [...series.all()].map(formatSeries).join(""),
  };
}

/** Creates a gauge with one value, or one per label set. */
export function createGauge(
  name: string,
  help: string,
  value: number | readonly (readonly [LabelSet, number])[],
): Metric {
  const figures = typeof value === "number" ? ([[{}, value]] as const) : value;
  const type = name.endsWith("_total") ? "counter" : "gauge";
  return {
    format: () =>
      formatHeader(name, help, type) +
      figures.map(([labels, each]) => formatSample(name, serializeLabels(labels), each)).join(""),
  };
}

/** Models and clients can invent any number of names, so label sets beyond the limit become `other`. */
function createSeries<Value>(fresh: () => Value): {
  get(labels: LabelSet): Value;
  all(): Iterable<[string, Value]>;
} {
  const series = new Map<string, Value>();
  return {
    all: () => series,
    get(labels) {
      const known = serializeLabels(labels);
      const key =
        series.has(known) || series.size < maxSeries ? known : serializeLabels(collapseLabels(labels));
      const value = series.get(key) ?? fresh();
      series.set(key, value);
      return value;
    },
  };
}

function collapseLabels(labels: LabelSet): LabelSet {
  return Object.fromEntries(Object.keys(labels).map((label) => [label, "other"]));
}

function serializeLabels(labels: LabelSet): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}="${escapeLabel(value.slice(0, maxLabelLength).toWellFormed())}"`)
    .join(",");
}

const appendLabel = (key: string, label: string): string => (key ? `${key},${label}` : label);

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function formatHeader(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function formatSample(name: string, key: string, value: number): string {
  return `${name}${key && `{${key}}`} ${value}\n`;
}
