import { AgentError } from "../base/errors.ts";
import { getScope } from "../kernel/session-id.ts";
import type { Feedback, RunFilter, RunSummary } from "../runtime/run-catalog.ts";
import type { Store } from "../runtime/store.ts";
import { type MemoryRun, type MemorySession, searchSessions } from "./memory-catalog.ts";
import { defaultRunLimit, formatRunCursor, parseRunCursor, type RunPosition } from "./run-cursor.ts";
import { assertBucketMs, createStatistics } from "./run-statistics.ts";
import { clampRowLimit } from "./store-rules.ts";
import { buildSummary, countTokens, foldSummaries, type SummaryRow } from "./summarize-run.ts";

type Sessions = ReadonlyMap<string, MemorySession>;
type Runs = ReadonlyMap<string, MemoryRun>;

/** Summaries by session, with the number of facts in them: those are folded on demand, so that a step costs nothing. */
const folded = new WeakMap<
  MemorySession,
  { readonly facts: number; readonly rows: ReadonlyMap<string, SummaryRow> }
>();

/** Creates the queries over all runs. */
export function createMemorySummaries(
  sessions: Sessions,
  runs: Runs,
): Pick<Store, "queryRuns" | "summarizeRuns" | "putFeedback"> {
  const feedback = new WeakMap<MemoryRun, Feedback>();

  function listSummaries(filter: RunFilter): RunSummary[] {
    const found = filter.q === undefined ? undefined : findRunsByWords(sessions, filter);
    const newest = filter.newestOf && findNewestRuns(runs, filter.newestOf);
    return [...runs].flatMap(([runId, run]) => {
      const session = sessions.get(run.info.sessionId);
      const row = session && getRows(session).get(runId);
      const summary = row && toSummary(run, row, feedback.get(run));
      const isFound = (found?.has(runId) ?? true) && (newest?.has(runId) ?? true);
      const isSelected = summary && isFound && matchesFilter(summary, filter);
      return isSelected ? [summary] : [];
    });
  }

  return {
    async queryRuns(query = {}) {
      const { sort = "startedAt", order = "desc", limit = defaultRunLimit } = query;
      const after = parseRunCursor(query);
      const places = new Map([...runs.keys()].map((runId, place) => [runId, place]));
      const getPosition = (summary: RunSummary): RunPosition => ({
        value: getSortValue(summary, sort),
        place: places.get(summary.runId) ?? 0,
      });
      const sign = order === "asc" ? 1 : -1;
      const sorted = listSummaries(query)
        .map((summary) => ({ summary, position: getPosition(summary) }))
        .filter(({ position }) => !after || sign * comparePositions(position, after) > 0)
        .sort((left, right) => sign * comparePositions(left.position, right.position));
      const page = sorted.slice(0, clampRowLimit(limit));
      const last = sorted.length > page.length ? page.at(-1) : undefined;
      return {
        runs: page.map(({ summary }) => summary),
        ...(last && { next: formatRunCursor(query, last.position) }),
      };
    },
    async summarizeRuns({ bucketMs, ...filter }) {
      assertBucketMs(bucketMs);
      const statistics = createStatistics();
      for (const { startedAt, ms, status, usage, agent, models, tools, cost } of listSummaries(filter))
        statistics.add({
          ...{ runs: 1, failed: status === "failed" ? 1 : 0, cost, tokens: countTokens(usage) },
          at: Math.floor(startedAt / bucketMs) * bucketMs,
          durations: ms === undefined ? [] : [ms],
          ...{ agent, models, tools },
        });
      return statistics.build();
    },
    async putFeedback(runId, given) {
      const run = runs.get(runId);
      if (!run) throw new AgentError("unknown_run", `Run "${runId}" not found in the store.`);
      if (given) feedback.set(run, given);
      else feedback.delete(run);
    },
  };
}

function getRows(session: MemorySession): ReadonlyMap<string, SummaryRow> {
  const known = folded.get(session) ?? { facts: 0, rows: new Map() };
  if (known.facts === session.facts.length) return known.rows;
  const rows = foldSummaries(session.facts.slice(known.facts), known.rows);
  folded.set(session, { facts: session.facts.length, rows });
  return rows;
}

function toSummary({ info }: MemoryRun, row: SummaryRow, feedback: Feedback | undefined): RunSummary {
  const { runId, sessionId, state, updatedAt } = info;
  return buildSummary({ runId, sessionId, state, updatedAt, user: getScope(sessionId) }, row, feedback);
}

/** Finds the runs of the facts that match the words. */
function findRunsByWords(sessions: Sessions, { q = "", scope }: RunFilter): ReadonlySet<string> {
  const limit = Number.POSITIVE_INFINITY;
  const hits = searchSessions(sessions, q, { limit, ...(scope !== undefined && { scope }) });
  return new Set(
    hits.flatMap(({ sessionId, seq }) => {
      const session = sessions.get(sessionId);
      const rows = session ? [...getRows(session)] : [];
      return rows.findLast(([, { firstSeq }]) => firstSeq <= seq)?.[0] ?? [];
    }),
  );
}

function findNewestRuns(runs: Runs, sessionIds: readonly string[]): ReadonlySet<string> {
  const newest = new Map<string, string>();
  for (const [runId, { info }] of runs) newest.set(info.sessionId, runId);
  return new Set(sessionIds.flatMap((sessionId) => newest.get(sessionId) ?? []));
}

function matchesFilter(run: RunSummary, filter: RunFilter): boolean {
  const { model, tool, tag, feedback, from, to, minCost, minMs } = filter;
  const equals = {
    ...{
      scope: run.user,
      sessionId: run.sessionId,
      agent: run.agent,
      version: run.agentVersion,
      status: run.status,
    },
    ...{ state: run.state, stopReason: run.stopReason, error: run.errorCode },
  };
  return (
    Object.entries(equals).every(([field, value]) => {
      const wanted = filter[field as keyof RunFilter];
      return wanted === undefined || wanted === value;
    }) &&
    (model === undefined || run.models.includes(model)) &&
    (tool === undefined || run.tools.includes(tool)) &&
    (tag === undefined || run.tags.includes(tag)) &&
    (feedback === undefined ||
      (feedback === "none" ? run.feedback === undefined : run.feedback?.rating === feedback)) &&
    (from === undefined || run.startedAt >= from) &&
    (to === undefined || run.startedAt < to) &&
    (minCost === undefined || run.cost >= minCost) &&
    (minMs === undefined || (run.ms ?? -1) >= minMs)
  );
}

function getSortValue(run: RunSummary, sort: NonNullable<Parameters<Store["queryRuns"]>[0]>["sort"]): number {
  if (sort === "tokens") return countTokens(run.usage);
  if (sort === "ms") return run.ms ?? -1;
  return sort === undefined ? run.startedAt : run[sort];
}

function comparePositions(left: RunPosition, right: RunPosition): number {
  return left.value - right.value || left.place - right.place;
}
