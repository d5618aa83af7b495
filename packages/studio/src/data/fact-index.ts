import type { Fact, Fragment, Json } from "capstan";
import { emptyView, nextStage, reduce, type SessionView, type Stage } from "capstan/client";
import { isView, type ViewHint } from "../panel/view-hints.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { readonly type: Type }>;

/** What is found in the facts of a session without looking through all of them. It grows with them. */
export type FactIndex = {
  readonly runStarts: ReadonlyMap<string, FactOf<"run_start">>;
  readonly runEnds: ReadonlyMap<string, FactOf<"done">>;
  /** The newest rest of a run. */
  readonly rests: ReadonlyMap<string, FactOf<"waiting">>;
  /** By run and turn: see `turnKey`. */
  readonly messages: ReadonlyMap<string, FactOf<"message">>;
  /** The newest of an id. */
  readonly callStarts: ReadonlyMap<string, FactOf<"tool_call_start">>;
  readonly approvals: ReadonlyMap<string, FactOf<"approval_required">>;
  /** Where something was said on the way: see `asideKey`. */
  readonly asides: ReadonlyMap<string, readonly number[]>;
  /** What a call of an agent did inside, by the id of the call. */
  readonly nested: ReadonlyMap<string, SessionView>;
  readonly fragments: ReadonlyMap<string, Fragment>;
  /** What the results of a run say they have changed, with those of the runs inside of it. */
  readonly affected: ReadonlyMap<string, readonly Json[]>;
  /** The maps and graphs, in order. */
  readonly views: readonly ViewHint[];
  /** After the last fact; what is being said at this moment is in no fact. */
  readonly stage: Stage;
};

/** The key of a turn. */
export const turnKey = (runId: string, turn: number): string => `${runId} ${turn}`;

/** The key of what a run was told on its way, and of its notices. */
export const asideKey = (runId: string, type: "user" | "notice"): string => `${runId} ${type}`;

const asideTypes: { readonly [Type in Fact["type"]]?: "user" | "notice" } = {
  steered: "user",
  warning: "notice",
  limit_reached: "notice",
  compacted: "notice",
};

type Growing = { readonly add: (fact: Fact) => void; readonly index: FactIndex; length: number };

const indexes = new WeakMap<readonly Fact[], Growing>();

/** Of a list that only grows; each fact is looked at once. */
export function factIndex(facts: readonly Fact[]): FactIndex {
  const growing = indexes.get(facts) ?? emptyIndex();
  indexes.set(facts, growing);
  for (; growing.length < facts.length; growing.length++) {
    const fact = facts[growing.length];
    if (fact) growing.add(fact);
  }
  return growing.index;
}

function emptyIndex(): Growing {
  const runStarts = new Map<string, FactOf<"run_start">>();
  const runEnds = new Map<string, FactOf<"done">>();
  const rests = new Map<string, FactOf<"waiting">>();
  const messages = new Map<string, FactOf<"message">>();
  const callStarts = new Map<string, FactOf<"tool_call_start">>();
  const approvals = new Map<string, FactOf<"approval_required">>();
  const asides = new Map<string, number[]>();
  const nested = new Map<string, SessionView>();
  const fragments = new Map<string, Fragment>();
  const affected = new Map<string, Json[]>();
  const views: ViewHint[] = [];
  const outermost = new Map<string, string>();
  let stage: Stage = "idle";

  function add(fact: Fact): void {
    stage = nextStage(stage, fact);
    const { runId, parentRunId = runId } = fact;
    const root = outermost.get(parentRunId) ?? parentRunId;
    outermost.set(runId, root);
    if (fact.parentCallId !== undefined) {
      const { parentRunId: _, parentCallId, ...own } = fact;
      nested.set(parentCallId, reduce(nested.get(parentCallId) ?? emptyView, own as Fact));
    }
    const aside = asideTypes[fact.type];
    if (aside) grow(asides, asideKey(fact.runId, aside), fact.seq);
    if (fact.type === "run_start") runStarts.set(fact.runId, fact);
    else if (fact.type === "done") runEnds.set(fact.runId, fact);
    else if (fact.type === "waiting") rests.set(fact.runId, fact);
    else if (fact.type === "message") messages.set(turnKey(fact.runId, fact.turn), fact);
    else if (fact.type === "tool_call_start") callStarts.set(fact.id, fact);
    else if (fact.type === "approval_required") approvals.set(fact.callId, fact);
    else if (fact.type === "tool_call_result") {
      for (const fragment of fact.contexts ?? []) fragments.set(fragment.id, fragment);
      if (fact.affected !== undefined) grow(affected, root, fact.affected);
      if (fact.ui && isView(fact.ui)) views.push({ seq: fact.seq, hint: fact.ui });
    }
  }
  const maps = { runStarts, runEnds, rests, messages, callStarts, approvals, asides, nested, fragments };
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

function grow<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
