import type { Json } from "../base/json.ts";
import type { Fact, RunStatus } from "../kernel/event.ts";
import { type Citation, type Fragment, getCalls } from "../kernel/history.ts";
import type { Usage } from "../kernel/model.ts";
import { findEnd, isNested } from "../runtime/load-facts.ts";

/** A call that a run made. `isExecuted` is false if it was denied, refused or invalid. */
export type MadeCall = {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  readonly isExecuted: boolean;
};

/** What the facts of a run say about it, for scorers. */
export type RunOutcome = {
  readonly runId: string;
  readonly sessionId: string;
  readonly agentVersion?: string;
  readonly status: RunStatus | "waiting";
  readonly text: string;
  readonly output?: Json;
  /** The calls of the run itself, in the order of the model's messages. */
  readonly calls: readonly MadeCall[];
  /** The names of all tools that were executed, also by nested runs. */
  readonly executedTools: readonly string[];
  /** The citations of the last message. */
  readonly citations: readonly Citation[];
  /** The passages that tools have found, by id. */
  readonly fragments: ReadonlyMap<string, Fragment>;
  readonly turns: number;
  readonly cost: number;
  readonly usage: Usage;
  /** From the first fact to the last, without the time that approvals took. */
  readonly ms: number;
};

/** Reads the outcome of a run from its facts, which may include nested runs. */
export function readOutcome(facts: readonly Fact[]): RunOutcome {
  const [start] = facts;
  const own = facts.filter((fact) => !isNested(fact));
  const end = findEnd(own);
  const executed = facts.filter((fact) => fact.type === "tool_call_start");
  const executedIds = new Set(executed.map(({ id }) => id));
  const messages = own.filter((fact) => fact.type === "message");
  const agentVersion = start?.type === "run_start" ? start.agentVersion : undefined;
  return {
    runId: start?.runId ?? "",
    sessionId: start?.sessionId ?? "",
    ...(agentVersion !== undefined && { agentVersion }),
    status: end?.status ?? "waiting",
    text: end?.text ?? "",
    ...(end?.output !== undefined && { output: end.output }),
    calls: messages.flatMap(({ entry }) =>
      getCalls(entry).map(({ id, name, input }) => ({ id, name, input, isExecuted: executedIds.has(id) })),
    ),
    executedTools: executed.map(({ name }) => name),
    citations: messages.at(-1)?.citations ?? [],
    fragments: collectFragments(facts),
    turns: own.filter(({ type }) => type === "turn_start").length,
    cost: end?.cost ?? 0,
    usage: end?.usage ?? { inputTokens: 0, outputTokens: 0 },
    ms: measureTime(facts),
  };
}

function collectFragments(facts: readonly Fact[]): ReadonlyMap<string, Fragment> {
  const fragments = new Map<string, Fragment>();
  for (const fact of facts)
    if (fact.type === "tool_call_result")
      for (const fragment of fact.contexts ?? [])
        if (!fragments.has(fragment.id)) fragments.set(fragment.id, fragment);
  return fragments;
}

function measureTime(facts: readonly Fact[]): number {
  let total = 0;
  for (const [index, fact] of facts.entries()) {
    const previous = facts[index - 1];
    if (!previous || previous.type === "waiting") continue;
    total += fact.elapsedMs ?? Math.max(0, fact.at - previous.at);
  }
  return total;
}
