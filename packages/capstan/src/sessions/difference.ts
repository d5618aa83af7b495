import type { Fact } from "../event.ts";
import { getText, toPlainText } from "../history.ts";
import { type Json, toCanonicalJson } from "../json.ts";
import { diffLines, type LineChange } from "./diff-lines.ts";
import { isNested } from "./stored-facts.ts";
import { type RunSummary, runSummary } from "./summary.ts";
import { askedIn } from "./title.ts";

/** The same figure of two runs. */
export type Pair<Value> = { readonly left: Value; readonly right: Value };

/** One call of a turn, in both runs or in one. What is the same in both is left out. */
export type CallDifference = {
  readonly type: "same" | "changed" | "left" | "right";
  readonly name: string;
  /** Another tool was called in this place. */
  readonly names?: Pair<string>;
  readonly input?: Pair<Json>;
  readonly status?: Pair<string>;
  readonly result?: readonly LineChange[];
};

/** One turn of both runs, or of the one that has it. */
export type TurnDifference = {
  readonly turn: number;
  readonly type: "same" | "changed" | "left" | "right";
  /** What the model said, when it is not the same. */
  readonly text?: readonly LineChange[];
  readonly calls: readonly CallDifference[];
};

/** How two runs differ. What is the same in both is left out, but for the figures. */
export type Difference = {
  /** Same question, turns, answer and status; what they took may differ. */
  readonly isSame: boolean;
  readonly question?: readonly LineChange[];
  readonly turns: readonly TurnDifference[];
  /** The answer, when it is not the same. */
  readonly answer?: readonly LineChange[];
  readonly status: Pair<string>;
  readonly models: Pair<readonly string[]>;
  readonly inputTokens: Pair<number>;
  readonly outputTokens: Pair<number>;
  readonly cost: Pair<number>;
  readonly ms: Pair<number>;
};

/** Compares two runs turn by turn. Of facts of several runs, the last run counts. */
export function difference(left: readonly Fact[], right: readonly Fact[]): Difference {
  const sides = { left: sideOf(left), right: sideOf(right) };
  const question = changedLines(sides.left.question, sides.right.question);
  const answer = changedLines(sides.left.answer, sides.right.answer);
  const turns = alignedTurns(sides.left.turns, sides.right.turns);
  const pair = <Value>(of: (summary: RunSummary) => Value): Pair<Value> => ({
    left: of(sides.left.summary),
    right: of(sides.right.summary),
  });
  const status = pair(({ status }) => status);
  return {
    isSame:
      !question && !answer && status.left === status.right && turns.every(({ type }) => type === "same"),
    ...(question && { question }),
    turns,
    ...(answer && { answer }),
    status,
    models: { left: sides.left.models, right: sides.right.models },
    inputTokens: pair(({ usage }) => usage.inputTokens),
    outputTokens: pair(({ usage }) => usage.outputTokens),
    cost: pair(({ cost }) => cost),
    ms: pair(({ startedAt, updatedAt }) => updatedAt - startedAt),
  };
}

type SideCall = { readonly name: string; readonly input: Json; status: string; result: string };
type SideTurn = { text: string; readonly calls: Map<string, SideCall> };
type Side = {
  readonly summary: RunSummary;
  readonly question: string;
  readonly answer: string;
  readonly models: readonly string[];
  readonly turns: ReadonlyMap<number, SideTurn>;
};

function sideOf(facts: readonly Fact[]): Side {
  const runId = facts.findLast((fact) => !isNested(fact))?.runId;
  const own = facts.filter((fact) => fact.runId === runId);
  const [start] = own;
  const turns = new Map<number, SideTurn>();
  const models = new Set<string>();
  for (const fact of own) {
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
  const done = own.find((fact) => fact.type === "done");
  const question = start?.type === "run_start" ? askedIn(start) : "";
  return { summary: runSummary(own), question, answer: done?.text ?? "", models: [...models], turns };
}

function alignedTurns(
  left: ReadonlyMap<number, SideTurn>,
  right: ReadonlyMap<number, SideTurn>,
): TurnDifference[] {
  const numbers = [...new Set([...left.keys(), ...right.keys()])].sort((one, other) => one - other);
  return numbers.map((turn) => {
    const [before, after] = [left.get(turn), right.get(turn)];
    const text = changedLines(before?.text ?? "", after?.text ?? "");
    const calls = alignedCalls([...(before?.calls.values() ?? [])], [...(after?.calls.values() ?? [])]);
    const isSame = !text && calls.every(({ type }) => type === "same");
    const type = !after ? "left" : !before ? "right" : isSame ? "same" : "changed";
    return { turn, type, ...(text && { text }), calls };
  });
}

function alignedCalls(left: readonly SideCall[], right: readonly SideCall[]): CallDifference[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => {
    const [before, after] = [left[index], right[index]];
    if (!before || !after) {
      const type = before ? "left" : "right";
      return { type, name: (before ?? after)?.name ?? "" };
    }
    return callDifference(before, after);
  });
}

function callDifference(left: SideCall, right: SideCall): CallDifference {
  const result = changedLines(left.result, right.result);
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

function changedLines(left: string, right: string): LineChange[] | undefined {
  return left === right ? undefined : diffLines(splitLines(left), splitLines(right));
}

function splitLines(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}
