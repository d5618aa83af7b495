import { type Json, toCanonicalJson } from "../base/json.ts";
import type { Fact } from "../kernel/event.ts";
import { getText, toPlainText } from "../kernel/history.ts";
import { findEnd, isNested } from "../runtime/load-facts.ts";
import { diffLines, type LineChange } from "./diff-lines.ts";
import { type RunSummary, summarizeRun } from "./summary.ts";
import { getUserText } from "./title.ts";

/** A value of both runs. */
export type Pair<Value> = { readonly left: Value; readonly right: Value };

/** A tool call in one or both runs. Fields that are equal in both are omitted. */
export type CallDifference = {
  readonly type: "same" | "changed" | "left" | "right";
  readonly name: string;
  /** Set when the runs called different tools at this position. */
  readonly names?: Pair<string>;
  readonly input?: Pair<Json>;
  readonly status?: Pair<string>;
  readonly result?: readonly LineChange[];
};

/** A turn in one or both runs. */
export type TurnDifference = {
  readonly turn: number;
  readonly type: "same" | "changed" | "left" | "right";
  /** The model's text, if it differs. */
  readonly text?: readonly LineChange[];
  readonly calls: readonly CallDifference[];
};

/** How two runs differ. Equal fields are omitted, except status, models and usage figures. */
export type Difference = {
  /** True if question, turns, answer and status are equal. Usage and time may differ. */
  readonly isSame: boolean;
  readonly question?: readonly LineChange[];
  readonly turns: readonly TurnDifference[];
  /** The answer, if it differs. */
  readonly answer?: readonly LineChange[];
  readonly status: Pair<string>;
  readonly models: Pair<readonly string[]>;
  readonly inputTokens: Pair<number>;
  readonly outputTokens: Pair<number>;
  readonly cost: Pair<number>;
  readonly ms: Pair<number>;
};

/** Compares two runs turn by turn. If the facts contain several runs, the last one is compared. */
export function difference(left: readonly Fact[], right: readonly Fact[]): Difference {
  const sides = { left: readRun(left), right: readRun(right) };
  const question = findChangedLines(sides.left.question, sides.right.question);
  const answer = findChangedLines(sides.left.answer, sides.right.answer);
  const turns = compareTurns(sides.left.turns, sides.right.turns);
  const buildPair = <Value>(pick: (summary: RunSummary) => Value): Pair<Value> => ({
    left: pick(sides.left.summary),
    right: pick(sides.right.summary),
  });
  const status = buildPair(({ status }) => status);
  return {
    isSame:
      !question && !answer && status.left === status.right && turns.every(({ type }) => type === "same"),
    ...(question && { question }),
    turns,
    ...(answer && { answer }),
    status,
    models: { left: sides.left.models, right: sides.right.models },
    inputTokens: buildPair(({ usage }) => usage.inputTokens),
    outputTokens: buildPair(({ usage }) => usage.outputTokens),
    cost: buildPair(({ cost }) => cost),
    ms: buildPair(({ startedAt, updatedAt }) => Math.max(0, updatedAt - startedAt)),
  };
}

type ComparedCall = { readonly name: string; readonly input: Json; status: string; result: string };
type ComparedTurn = { text: string; readonly calls: Map<string, ComparedCall> };
type ComparedRun = {
  readonly summary: RunSummary;
  readonly question: string;
  readonly answer: string;
  readonly models: readonly string[];
  readonly turns: ReadonlyMap<number, ComparedTurn>;
};

function readRun(facts: readonly Fact[]): ComparedRun {
  const runId = facts.findLast((fact) => !isNested(fact))?.runId;
  const runFacts = facts.filter((fact) => fact.runId === runId);
  const [start] = runFacts;
  const turns = new Map<number, ComparedTurn>();
  const models = new Set<string>();
  for (const fact of runFacts) {
    if (fact.type === "turn_start") turns.set(fact.turn, { text: "", calls: new Map() });
    const turn = turns.get(fact.turn);
    if (!turn) continue;
    if (fact.type === "message") {
      models.add(fact.model);
      turn.text = getText(fact.entry);
      for (const part of fact.entry.parts)
        if (part.type === "call")
          turn.calls.set(part.id, { name: part.name, input: part.raw ?? part.input, status: "", result: "" });
    }
    const call = fact.type === "tool_call_result" ? turn.calls.get(fact.id) : undefined;
    if (call && fact.type === "tool_call_result") {
      call.status = fact.status;
      call.result = toPlainText(fact.result);
    }
  }
  const done = findEnd(runFacts);
  const question = start?.type === "run_start" ? getUserText(start) : "";
  return { summary: summarizeRun(runFacts), question, answer: done?.text ?? "", models: [...models], turns };
}

function compareTurns(
  left: ReadonlyMap<number, ComparedTurn>,
  right: ReadonlyMap<number, ComparedTurn>,
): TurnDifference[] {
  const turnNumbers = [...new Set([...left.keys(), ...right.keys()])].sort((first, second) => first - second);
  return turnNumbers.map((turn) => {
    const [before, after] = [left.get(turn), right.get(turn)];
    const text = findChangedLines(before?.text ?? "", after?.text ?? "");
    const calls = compareCalls([...(before?.calls.values() ?? [])], [...(after?.calls.values() ?? [])]);
    const isSame = !text && calls.every(({ type }) => type === "same");
    const type = !after ? "left" : !before ? "right" : isSame ? "same" : "changed";
    return { turn, type, ...(text && { text }), calls };
  });
}

function compareCalls(left: readonly ComparedCall[], right: readonly ComparedCall[]): CallDifference[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => {
    const [before, after] = [left[index], right[index]];
    if (!before || !after) {
      const type = before ? "left" : "right";
      return { type, name: (before ?? after)?.name ?? "" };
    }
    return compareCall(before, after);
  });
}

function compareCall(left: ComparedCall, right: ComparedCall): CallDifference {
  const result = findChangedLines(left.result, right.result);
  const changes = {
    ...(left.name !== right.name && { names: { left: left.name, right: right.name } }),
    ...(toCanonicalJson(left.input) !== toCanonicalJson(right.input) && {
      input: { left: left.input, right: right.input },
    }),
    ...(left.status !== right.status && { status: { left: left.status, right: right.status } }),
    ...(result && { result }),
  };
  return { type: Object.keys(changes).length > 0 ? "changed" : "same", name: right.name, ...changes };
}

function findChangedLines(left: string, right: string): LineChange[] | undefined {
  return left === right ? undefined : diffLines(splitNonEmpty(left), splitNonEmpty(right));
}

function splitNonEmpty(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}
