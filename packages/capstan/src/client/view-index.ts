import type { Fact } from "../kernel/event.ts";
import type { RunView, SessionView } from "./session-view.ts";
import { nextStage } from "./stage.ts";

/** Returns a mutable copy of a collection of the view, and the same copy for all events of a batch. */
export type Own = {
  <Item>(list: readonly Item[]): Item[];
  <Key, Value>(map: ReadonlyMap<Key, Value>): Map<Key, Value>;
};

export function createOwner(): Own {
  const owned = new Set<object>();
  function own(collection: readonly unknown[] | ReadonlyMap<unknown, unknown>): object {
    if (owned.has(collection)) return collection;
    const copy = collection instanceof Map ? new Map(collection) : [...(collection as readonly unknown[])];
    owned.add(copy);
    return copy;
  }
  return own as Own;
}

type Lookups = Pick<SessionView, "seq" | "stage" | "runs" | "fragments" | "hints">;

/** Returns the lookups of the view after a fact of any run. */
export function indexFact({ stage, runs, fragments, hints }: SessionView, fact: Fact, own: Own): Lookups {
  const { contexts = [], ui } = fact.type === "tool_call_result" ? fact : {};
  const nextHints = ui ? own(hints) : undefined;
  if (ui) nextHints?.push({ seq: fact.seq, hint: ui });
  return {
    seq: fact.seq,
    stage: nextStage(stage, fact),
    runs: setAll(
      runs,
      updateRuns(runs, fact).map((run) => [run.runId, run]),
      own,
    ),
    fragments: setAll(
      fragments,
      contexts.map((fragment) => [fragment.id, fragment]),
      own,
    ),
    hints: nextHints ?? hints,
  };
}

function setAll<Value>(
  map: ReadonlyMap<string, Value>,
  entries: readonly (readonly [string, Value])[],
  own: Own,
): ReadonlyMap<string, Value> {
  if (entries.length === 0) return map;
  const copy = own(map);
  for (const [key, value] of entries) copy.set(key, value);
  return copy;
}

/** Returns the runs that a fact adds or changes. */
function updateRuns(runs: SessionView["runs"], fact: Fact): readonly RunView[] {
  const known = runs.get(fact.runId);
  const run = applyRunFact(known ?? createRun(runs, fact), fact);
  const changed = run === known ? [] : [run];
  if (fact.type !== "tool_call_result" || fact.affected === undefined) return changed;
  const { rootRunId } = run;
  const root = rootRunId === run.runId ? run : (runs.get(rootRunId) ?? createRun(runs, { runId: rootRunId }));
  return [...changed, { ...root, affected: [...root.affected, fact.affected] }];
}

type RunIds = { readonly runId: string; readonly parentRunId?: string };

function createRun(runs: SessionView["runs"], { runId, parentRunId = runId }: RunIds): RunView {
  return { runId, rootRunId: runs.get(parentRunId)?.rootRunId ?? parentRunId, affected: [] };
}

function applyRunFact(run: RunView, fact: Fact): RunView {
  const { end: _, outage, resumesAt: __, ...rest } = run;
  switch (fact.type) {
    case "run_start":
      return { ...run, start: fact };
    case "done":
      return { ...rest, end: fact };
    case "retried":
      return rest;
    case "message":
    case "message_partial":
      return { ...rest, inputTokens: fact.usage.inputTokens };
    case "model_failed": {
      const { model, error, attempts } = fact;
      return { ...run, outage: { model, error, attempts: (outage?.attempts ?? 0) + attempts } };
    }
    case "waiting":
      return {
        ...rest,
        ...(outage && { outage }),
        ...(fact.until !== undefined && { resumesAt: fact.until }),
      };
    default:
      return run;
  }
}
