import type { Effects } from "../tool.ts";
import type { Chance } from "./chance.ts";

/** The tools of every agent in a world. */
export const kinds: {
  readonly [name: string]: {
    readonly effects?: Effects;
    readonly idempotent?: boolean;
    /** May be performed again when nobody knows how it ended. */
    readonly repeatable: boolean;
    readonly needsApproval?: boolean;
    /** How often it asks in the middle of a call. */
    readonly questions?: number;
    readonly byClient?: boolean;
  };
} = {
  look: { effects: "none", repeatable: true },
  write: { effects: "state", repeatable: false },
  keyed: { effects: "send", idempotent: true, repeatable: true },
  plain: { repeatable: false },
  guarded: { effects: "state", needsApproval: true, repeatable: false },
  curious: { effects: "none", questions: 2, repeatable: true },
  formal: { effects: "state", needsApproval: true, questions: 1, repeatable: false },
  page: { byClient: true, repeatable: true },
};

export type PlannedCall = {
  readonly tool: string;
  /** In its input: finds it again. */
  readonly n: number;
  /** `once`: fails at its first execution. */
  readonly outcome: "ok" | "throw" | "once";
  readonly ms: number;
  /** Goes on although it was told to stop. */
  readonly isStubborn: boolean;
  readonly hasBadArguments: boolean;
};

export type PlannedTurn = {
  readonly words: boolean;
  readonly calls: readonly PlannedCall[];
  /** How it goes wrong the first times that it is asked. */
  readonly trouble: "overloaded" | "cut" | "breaks";
  readonly troubles: number;
};

/** What one run will do, if it is let. */
export type PlannedRun = {
  readonly number: number;
  readonly runId: string;
  readonly session: string;
  readonly turns: readonly PlannedTurn[];
  readonly maxTurns: number;
  readonly sequential: boolean;
  readonly startAtMs: number;
};

/** How tools were called in one run: at most nine calls a turn, and nine turns. */
const callsPerRun = 100;

export function planRuns(chance: Chance): readonly PlannedRun[] {
  const sessions = chance.between(1, 3);
  const count = chance.is(0.5) ? chance.between(1, 2) : chance.between(1, 6);
  return Array.from({ length: count }, (_, number) => ({
    number,
    runId: `run_${number}`,
    session: `session_${chance.below(sessions)}`,
    turns: Array.from({ length: chance.below(4) }, (_, turn) =>
      planTurn(chance, number * callsPerRun + turn * 10),
    ),
    maxTurns: chance.between(2, 6),
    sequential: chance.is(0.2),
    startAtMs: chance.below(300),
  }));
}

function planTurn(chance: Chance, first: number): PlannedTurn {
  const tools = [...Object.keys(kinds), "look", "keyed", "plain", "write"];
  return {
    words: chance.is(0.5),
    trouble: chance.pick(["overloaded", "cut", "breaks"]),
    troubles: chance.is(0.25) ? chance.between(1, 3) : 0,
    calls: Array.from({ length: chance.between(1, 3) }, (_, index) => ({
      tool: chance.is(0.03) ? "missing" : chance.pick(tools),
      n: first + index,
      outcome: chance.pick(["ok", "ok", "ok", "throw", "once"]),
      ms: chance.is(0.1) ? chance.below(3000) : chance.below(40),
      isStubborn: chance.is(0.2),
      hasBadArguments: chance.is(0.04),
    })),
  };
}

/** The planned call with this number. */
export function plannedCall(runs: readonly PlannedRun[], n: number): PlannedCall | undefined {
  const run = runs[Math.floor(n / callsPerRun)];
  return run?.turns[Math.floor((n % callsPerRun) / 10)]?.calls[n % 10];
}
