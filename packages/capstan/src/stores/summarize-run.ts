import { addUsage, noUsage } from "../base/usage.ts";
import type { Fact, RunStatus, UnplacedFact } from "../kernel/event.ts";
import { type Entry, toPlainText } from "../kernel/history.ts";
import { getStopReason, type StopReason, type Usage } from "../kernel/model.ts";
import type { Feedback, RunSummary } from "../runtime/run-catalog.ts";
import { isListedRunStart } from "./store-rules.ts";

/** What one fact changes in the summary of its run, as JSON. The facts of nested runs change their root. */
export type SummaryChange = {
  readonly start?: {
    readonly agentVersion?: string;
    readonly tags: readonly string[];
    readonly title: string;
  };
  readonly turn?: number;
  readonly model?: string;
  /** The tool of a finished call. */
  readonly tool?: string;
  readonly stopReason?: StopReason;
  /** Added to the usage so far. */
  readonly usage?: Usage;
  /** Replaces the usage so far. */
  readonly end?: {
    readonly status: RunStatus;
    readonly errorCode?: string;
    readonly usage: Usage;
    readonly cost: number;
  };
  /** An ended run continues. */
  readonly reopens?: true;
};

/** The part of a summary that is folded from facts; the rest is in the row of the run. */
export type SummaryRow = {
  readonly agent: string;
  readonly agentVersion: string | undefined;
  readonly firstSeq: number;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly status: RunStatus | undefined;
  readonly stopReason: StopReason | undefined;
  readonly errorCode: string | undefined;
  readonly turns: number;
  readonly toolCalls: number;
  readonly tools: readonly string[];
  readonly models: readonly string[];
  readonly usage: Usage;
  readonly cost: number;
  readonly tags: readonly string[];
  readonly title: string;
};

const maxTitleLength = 120;

/** Returns what a fact changes; undefined for most facts, which cost nothing then. */
export function getSummaryChange(fact: UnplacedFact): SummaryChange | undefined {
  const isNested = fact.parentRunId !== undefined;
  switch (fact.type) {
    case "run_start": {
      if (!isListedRunStart(fact)) return undefined;
      const { agentVersion, tags = [] } = fact;
      return { start: { tags, title: buildRunTitle(fact.input), ...(agentVersion && { agentVersion }) } };
    }
    case "message": {
      const { model, turn } = fact;
      const usage = addUsage(fact.usage, fact.retryUsage);
      const stopReason = getStopReason(fact);
      if (isNested) return { model, usage };
      return { model, usage, turn, ...(stopReason !== "aborted" && { stopReason }) };
    }
    case "message_partial":
      return { model: fact.model, usage: addUsage(fact.usage, fact.retryUsage) };
    case "model_failed":
    case "compacted":
    case "turn_summary":
      return fact.usage && { usage: fact.usage };
    case "tool_call_result":
      return { tool: fact.name };
    case "retried":
      return isNested ? undefined : { reopens: true };
    case "done": {
      if (isNested) return undefined;
      const { status, error, usage, cost, turn } = fact;
      return { turn, end: { status, usage, cost, ...(error && { errorCode: error.code }) } };
    }
    default:
      return undefined;
  }
}

/** Starts a summary with the first fact of a run. */
export function createSummaryRow(
  { agent, at, seq }: Pick<Fact, "agent" | "at" | "seq">,
  { agentVersion, tags, title }: NonNullable<SummaryChange["start"]>,
): SummaryRow {
  const unknown = { endedAt: undefined, status: undefined, stopReason: undefined, errorCode: undefined };
  const counts = { turns: 0, toolCalls: 0, tools: [], models: [], usage: noUsage, cost: 0 };
  return { agent, agentVersion, tags, title, firstSeq: seq, startedAt: at, ...unknown, ...counts };
}

/** Applies a later fact of the run. */
export function applySummaryChange(row: SummaryRow, change: SummaryChange, at: number): SummaryRow {
  const { turn = 0, tool, model, stopReason = row.stopReason, usage, end, reopens } = change;
  const ended = end && { endedAt: at, status: end.status, errorCode: end.errorCode };
  const reopened = reopens && { endedAt: undefined, status: undefined, errorCode: undefined };
  return {
    ...row,
    turns: Math.max(row.turns, turn),
    toolCalls: row.toolCalls + (tool === undefined ? 0 : 1),
    tools: addName(row.tools, tool),
    models: addName(row.models, model),
    stopReason,
    usage: end?.usage ?? addUsage(row.usage, usage),
    cost: end?.cost ?? row.cost + (usage?.cost ?? 0),
    ...ended,
    ...reopened,
  };
}

/** Folds the facts of one session after those that were folded into `rows`. Returns the rows by run. */
export function foldSummaries(
  facts: readonly Fact[],
  rows: ReadonlyMap<string, SummaryRow> = new Map(),
): ReadonlyMap<string, SummaryRow> {
  const folded = new Map(rows);
  let current = [...rows.keys()].at(-1);
  for (const fact of facts) {
    const change = getSummaryChange(fact);
    const row = current === undefined ? undefined : folded.get(current);
    if (change?.start) {
      current = fact.runId;
      folded.set(current, createSummaryRow(fact, change.start));
    } else if (change && row && current !== undefined)
      folded.set(current, applySummaryChange(row, change, fact.at));
  }
  return folded;
}

/** Builds a summary from the row of the run, the facts of the run, and its feedback. */
export function buildSummary(
  info: Pick<RunSummary, "runId" | "sessionId" | "state" | "updatedAt" | "user">,
  { firstSeq: _, agentVersion, status, stopReason, errorCode, endedAt, ...row }: SummaryRow,
  feedback: Feedback | undefined,
): RunSummary {
  return {
    ...info,
    ...row,
    ...(agentVersion !== undefined && { agentVersion }),
    ...(status !== undefined && { status }),
    ...(stopReason !== undefined && { stopReason }),
    ...(errorCode !== undefined && { errorCode }),
    ...(endedAt !== undefined && { endedAt, ms: endedAt - row.startedAt }),
    ...(feedback && { feedback }),
  };
}

/** Input and output tokens. */
export function countTokens({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}

function addName(names: readonly string[], name: string | undefined): readonly string[] {
  return name === undefined || names.includes(name) ? names : [...names, name];
}

/** Returns the first line of the newest message of the user, without control characters. */
function buildRunTitle(input: readonly Entry[]): string {
  const entry = input.findLast(({ type }) => type === "user");
  const text = entry?.type === "user" ? toPlainText(entry.content) : "";
  const line = text.split("\n").find((candidate) => candidate.trim() !== "") ?? "";
  const plain = line.replaceAll(/(?:[^ -~\xa0-\uffff]|\s)+/g, " ").trim();
  return (
    plain.length > maxTitleLength ? `${plain.slice(0, maxTitleLength - 1).trimEnd()}…` : plain
  ).toWellFormed();
}
