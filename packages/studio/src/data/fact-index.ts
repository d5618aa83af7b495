import type { Fact, Fragment, Json } from "capstan";
import { emptyView, nextStage, reduce, type SessionView, type Stage } from "capstan/client";
import { isPanelView, type PanelView } from "../panel/panel-views.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;

/** Lookups into the facts of a session. It grows with them. */
export type FactIndex = {
  readonly runStarts: ReadonlyMap<string, FactOf<"run_start">>;
  readonly runEnds: ReadonlyMap<string, FactOf<"done">>;
  /** The newest `waiting` fact of a run. */
  readonly waits: ReadonlyMap<string, FactOf<"waiting">>;
  /** By run and turn, see `getTurnKey`. */
  readonly messages: ReadonlyMap<string, FactOf<"message">>;
  /** The newest with this id. */
  readonly callStarts: ReadonlyMap<string, FactOf<"tool_call_start">>;
  readonly approvals: ReadonlyMap<string, FactOf<"approval_required">>;
  /** Positions of steering messages and notices, see `getAsideKey`. */
  readonly asides: ReadonlyMap<string, readonly number[]>;
  /** Views of nested runs, by call id. */
  readonly nested: ReadonlyMap<string, SessionView>;
  readonly fragments: ReadonlyMap<string, Fragment>;
  /** The `affected` values of a run's results, including nested runs. */
  readonly affected: ReadonlyMap<string, readonly Json[]>;
  /** Maps and graphs, in order. */
  readonly views: readonly PanelView[];
  /** Stage after the last fact, without live output. */
  readonly stage: Stage;
};

export const getTurnKey = (runId: string, turn: number): string => `${runId} ${turn}`;

export const getAsideKey = (runId: string, type: "user" | "notice"): string => `${runId} ${type}`;

const asideTypes: { readonly [Type in Fact["type"]]?: "user" | "notice" } = {
  steered: "user",
  warning: "notice",
  limit_reached: "notice",
  compacted: "notice",
};

type IndexBuilder = { readonly add: (fact: Fact) => void; readonly index: FactIndex; length: number };

const indexes = new WeakMap<readonly Fact[], IndexBuilder>();

/** Returns the index of an append-only list. Each fact is processed once. */
export function getFactIndex(facts: readonly Fact[]): FactIndex {
  const builder = indexes.get(facts) ?? createFactIndex();
  indexes.set(facts, builder);
  for (; builder.length < facts.length; builder.length++) {
    const fact = facts[builder.length];
    if (fact) builder.add(fact);
  }
  return builder.index;
}

function createFactIndex(): IndexBuilder {
  const runStarts = new Map<string, FactOf<"run_start">>();
  const runEnds = new Map<string, FactOf<"done">>();
  const waits = new Map<string, FactOf<"waiting">>();
  const messages = new Map<string, FactOf<"message">>();
  const callStarts = new Map<string, FactOf<"tool_call_start">>();
  const approvals = new Map<string, FactOf<"approval_required">>();
  const asides = new Map<string, number[]>();
  const nested = new Map<string, SessionView>();
  const fragments = new Map<string, Fragment>();
  const affected = new Map<string, Json[]>();
  const views: PanelView[] = [];
  const rootRuns = new Map<string, string>();
  let stage: Stage = "idle";

  function add(fact: Fact): void {
    stage = nextStage(stage, fact);
    const { runId, parentRunId = runId } = fact;
    const root = rootRuns.get(parentRunId) ?? parentRunId;
    rootRuns.set(runId, root);
    if (fact.parentCallId !== undefined) {
      const { parentRunId: _, parentCallId, ...ownFact } = fact;
      nested.set(parentCallId, reduce(nested.get(parentCallId) ?? emptyView, ownFact as Fact));
    }
    const aside = asideTypes[fact.type];
    if (aside) appendTo(asides, getAsideKey(fact.runId, aside), fact.seq);
    if (fact.type === "run_start") runStarts.set(fact.runId, fact);
    else if (fact.type === "done") runEnds.set(fact.runId, fact);
    else if (fact.type === "waiting") waits.set(fact.runId, fact);
    else if (fact.type === "message") messages.set(getTurnKey(fact.runId, fact.turn), fact);
    else if (fact.type === "tool_call_start") callStarts.set(fact.id, fact);
    else if (fact.type === "approval_required") approvals.set(fact.callId, fact);
    else if (fact.type === "tool_call_result") {
      for (const fragment of fact.contexts ?? []) fragments.set(fragment.id, fragment);
      if (fact.affected !== undefined) appendTo(affected, root, fact.affected);
      if (fact.ui && isPanelView(fact.ui)) views.push({ seq: fact.seq, hint: fact.ui });
    }
  }
  const maps = { runStarts, runEnds, waits, messages, callStarts, approvals, asides, nested, fragments };
  const index = {
    ...maps,
    affected,
    views,
    get stage() {
      return stage;
    },
  };
  return { add, index, length: 0 };
}

function appendTo<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
