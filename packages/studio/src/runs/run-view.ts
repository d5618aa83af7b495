import type { RunListQuery, RunStatisticsQuery } from "capstan/client";

/** What the page shows, as kept in its address: a filter, an order and a range of time. */
export type RunView = {
  readonly q: string;
  readonly agent: string;
  readonly version: string;
  /** A status or a state. */
  readonly status: string;
  readonly stopReason: string;
  readonly error: string;
  readonly model: string;
  readonly tool: string;
  readonly tag: string;
  readonly feedback: string;
  readonly user: string;
  readonly minCost: string;
  readonly minMs: string;
  readonly range: string;
  readonly sort: string;
  readonly order: string;
};

export const emptyView: RunView = {
  ...{ q: "", agent: "", version: "", status: "", stopReason: "", error: "", model: "", tool: "", tag: "" },
  ...{ feedback: "", user: "", minCost: "", minMs: "", range: "7d", sort: "startedAt", order: "desc" },
};

const hourMs = 3_600_000;

/** The choices of time, and the periods that plots divide them into. */
export const ranges: Readonly<
  Record<string, { readonly label: string; readonly ms: number; readonly bucketMs: number }>
> = {
  "1h": { label: "Last hour", ms: hourMs, bucketMs: hourMs / 30 },
  "24h": { label: "Last 24 hours", ms: 24 * hourMs, bucketMs: hourMs },
  "7d": { label: "Last 7 days", ms: 7 * 24 * hourMs, bucketMs: 6 * hourMs },
  "30d": { label: "Last 30 days", ms: 30 * 24 * hourMs, bucketMs: 24 * hourMs },
  all: { label: "All time", ms: Number.POSITIVE_INFINITY, bucketMs: 24 * hourMs },
};

const states = ["active", "waiting"];

/** Reads a view from the query of an address. Unknown fields are ignored. */
export function parseView(search: string): RunView {
  const given = new URLSearchParams(search);
  const entries = Object.entries(emptyView).map(([field, value]) => [field, given.get(field) ?? value]);
  const view = Object.fromEntries(entries) as RunView;
  return Object.hasOwn(ranges, view.range) ? view : { ...view, range: emptyView.range };
}

/** Formats a view as the query of an address, without what is empty or usual. */
export function formatView(view: RunView): string {
  const entries = Object.entries(view).filter(
    ([field, value]) => value !== emptyView[field as keyof RunView],
  );
  return new URLSearchParams(entries).toString();
}

/** Whether the view selects some runs only, apart from the range of time. */
export function hasFilter(view: RunView): boolean {
  const { range: _, sort: __, order: ___, ...filter } = view;
  return Object.values(filter).some((value) => value !== "");
}

/** Builds the query of a list. `now` is the end of the range. */
export function toQuery(view: RunView, now: number): RunListQuery {
  const { status, minCost, minMs, range, ...rest } = view;
  const { ms, bucketMs } = getRange(range);
  const query = {
    ...rest,
    ...(states.includes(status) ? { state: status } : { status }),
    ...(Number(minCost) > 0 && { minCost }),
    ...(Number(minMs) > 0 && { minMs }),
    // Whole periods, so that the first one of a plot is not cut.
    ...(Number.isFinite(ms) && { from: String(Math.floor((now - ms) / bucketMs) * bucketMs) }),
  };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== "")) as RunListQuery;
}

/** Builds the query of the totals of the same runs. */
export function toStatisticsQuery(view: RunView, now: number): RunStatisticsQuery {
  const { sort: _, order: __, ...filter } = toQuery(view, now);
  return { ...filter, bucket: getRange(view.range).bucketMs };
}

export function getRange(range: string): {
  readonly label: string;
  readonly ms: number;
  readonly bucketMs: number;
} {
  return ranges[range] ?? { label: "Last 7 days", ms: 7 * 24 * hourMs, bucketMs: 6 * hourMs };
}
