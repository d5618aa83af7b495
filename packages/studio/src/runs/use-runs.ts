import type { RunStatistics, RunSummary } from "capstan";
import { useCallback, useEffect, useState } from "react";
import { client } from "../data/client.ts";
import { type RunView, toQuery, toStatisticsQuery } from "./run-view.ts";

export type RunList = {
  readonly runs: readonly RunSummary[] | undefined;
  readonly statistics: RunStatistics | undefined;
  readonly error: string | undefined;
  readonly hasMore: boolean;
  readonly loadMore: () => Promise<void>;
  readonly refresh: () => void;
};

type Page = { readonly key: string; readonly runs: readonly RunSummary[]; readonly next: string | undefined };

const pageSize = 50;
const pollMs = 3_000;
/** Totals change slowly and cost more. */
const pollsPerStatistics = 5;

/** Lists the runs of a view and keeps the first page up to date while the page is visible. */
export function useRuns(view: RunView, isLive: boolean): RunList {
  const key = JSON.stringify(view);
  const [page, setPage] = useState<Page>();
  const [statistics, setStatistics] = useState<RunStatistics>();
  const [error, setError] = useState<string>();
  const [attempts, setAttempts] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key identifies the view
  useEffect(() => {
    let isCurrent = true;
    async function load(withStatistics: boolean): Promise<void> {
      try {
        const now = Date.now();
        const [first, sums] = await Promise.all([
          client.listRuns({ ...toQuery(view, now), limit: pageSize }),
          withStatistics ? client.summarizeRuns(toStatisticsQuery(view, now)) : undefined,
        ]);
        if (!isCurrent) return;
        setPage((known) => mergePage(known, { key, runs: first.runs, next: first.next }));
        if (sums) setStatistics(sums);
        setError(undefined);
      } catch (thrown) {
        if (isCurrent) setError(thrown instanceof Error ? thrown.message : String(thrown));
      }
    }
    void load(true);
    let polls = 0;
    const timer = setInterval(() => {
      if (!isLive || document.visibilityState === "hidden") return;
      polls += 1;
      void load(polls % pollsPerStatistics === 0);
    }, pollMs);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [key, isLive, attempts]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key identifies the view
  const loadMore = useCallback(async () => {
    if (page?.next === undefined) return;
    const more = await client.listRuns({ ...toQuery(view, Date.now()), limit: pageSize, cursor: page.next });
    setPage((known) => {
      if (known?.key !== key) return known;
      return { key, runs: joinRuns(known.runs, more.runs), next: more.next };
    });
  }, [key, page]);

  return {
    runs: page?.runs,
    statistics,
    error,
    hasMore: page?.next !== undefined,
    loadMore,
    refresh: useCallback(() => setAttempts((count) => count + 1), []),
  };
}

/** Puts a new first page before the later pages that were loaded. */
function mergePage(known: Page | undefined, first: Page): Page {
  if (known?.key !== first.key || known.runs.length <= pageSize) return first;
  return { key: first.key, runs: joinRuns(first.runs, known.runs), next: known.next };
}

function joinRuns(runs: readonly RunSummary[], more: readonly RunSummary[]): readonly RunSummary[] {
  const ids = new Set(runs.map(({ runId }) => runId));
  return [...runs, ...more.filter(({ runId }) => !ids.has(runId))];
}
