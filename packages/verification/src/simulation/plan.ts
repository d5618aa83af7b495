import type { Effects } from "capstan";
import type { Random } from "./random.ts";

/** The tools of the simulated agents. */
export const toolKinds: {
  readonly [name: string]: {
    readonly effects?: Effects;
    readonly idempotent?: boolean;
    /** May be executed again if its outcome is unknown. */
    readonly repeatable: boolean;
    readonly needsApproval?: boolean;
    /** Number of questions it asks during a call. */
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
  /** Identifies the call in its input. */
  readonly n: number;
  /** `once`: the first execution fails. */
  readonly outcome: "ok" | "throw" | "once";
  readonly ms: number;
  /** Ignores its abort signal. */
  readonly isStubborn: boolean;
  readonly hasBadArguments: boolean;
};

export type PlannedTurn = {
  readonly hasText: boolean;
  readonly calls: readonly PlannedCall[];
  /** How the first requests of this turn fail. */
  readonly failure: "overloaded" | "cut" | "breaks";
  readonly failureCount: number;
};

/** The planned course of a run. */
export type PlannedRun = {
  readonly number: number;
  /** For a scheduled run, its schedule, which determines its id: set when the run starts. */
  readonly scheduleId?: string;
  runId: string;
  readonly session: string;
  readonly turns: readonly PlannedTurn[];
  readonly maxTurns: number;
  readonly sequential: boolean;
  readonly startAtMs: number;
  /** Parts of the last answer: the model stops after each one, for the reason `stopsAt`, and is called again. */
  readonly answerParts: number;
  readonly stopsAt: "length" | "pause";
  readonly contextBudget: number | "unlimited";
  /** Requests of one model call, and how long the run waits for its provider. */
  readonly attempts: number;
  readonly patienceMs: number;
  /** Whether the user retries the run if it fails because of its model. */
  readonly isRetried: boolean;
};

const dayMs = 86_400_000;

/** Number range of a run's calls: at most ten calls in each of ten turns. */
const callsPerRun = 100;

export function planRuns(random: Random): readonly PlannedRun[] {
  const sessions = random.between(1, 3);
  const count = random.chance(0.5) ? random.between(1, 2) : random.between(1, 6);
  return Array.from({ length: count }, (_, number) => ({
    number,
    runId: `run_${number}`,
    session: `session_${random.below(sessions)}`,
    turns: Array.from({ length: random.below(4) }, (_, turn) =>
      planTurn(random, number * callsPerRun + turn * 10),
    ),
    maxTurns: random.between(2, 6),
    sequential: random.chance(0.2),
    startAtMs: random.below(300),
    answerParts: random.chance(0.3) ? random.between(2, 4) : 1,
    stopsAt: random.pick(["length", "pause"]),
    contextBudget: random.chance(0.2) ? random.pick([30, 60, 120]) : "unlimited",
    attempts: random.between(1, 3),
    patienceMs: random.pick([dayMs, dayMs, 4000, 20_000]),
    isRetried: random.chance(0.7),
  }));
}

/** Lets schedules start some of the runs, in some worlds. */
export function planSchedules(random: Random, runs: readonly PlannedRun[]): readonly PlannedRun[] {
  if (!random.chance(0.25)) return runs;
  return runs.map((run) =>
    random.chance(0.6) ? { ...run, scheduleId: `sch_${run.number}`, runId: `unknown_${run.number}` } : run,
  );
}

/** Returns the run that a schedule has started under this id. */
export function findScheduledRun(runs: readonly PlannedRun[], runId: string): PlannedRun | undefined {
  const [, number] = /^run_sch_(\d+)_\d+$/.exec(runId) ?? [];
  return number === undefined ? undefined : runs[Number(number)];
}

function planTurn(random: Random, first: number): PlannedTurn {
  const tools = [...Object.keys(toolKinds), "look", "keyed", "plain", "write"];
  return {
    hasText: random.chance(0.5),
    failure: random.pick(["overloaded", "cut", "breaks"]),
    failureCount: random.chance(0.25) ? random.between(1, 3) : 0,
    calls: Array.from({ length: random.between(1, 3) }, (_, index) => ({
      tool: random.chance(0.03) ? "missing" : random.pick(tools),
      n: first + index,
      outcome: random.pick(["ok", "ok", "ok", "throw", "once"]),
      ms: random.chance(0.1) ? random.below(3000) : random.below(40),
      isStubborn: random.chance(0.2),
      hasBadArguments: random.chance(0.04),
    })),
  };
}

export function findPlannedCall(runs: readonly PlannedRun[], n: number): PlannedCall | undefined {
  const run = runs[Math.floor(n / callsPerRun)];
  return run?.turns[Math.floor((n % callsPerRun) / 10)]?.calls[n % 10];
}

/** The last answer of a run, in its parts. */
export function listAnswerParts({ answerParts }: PlannedRun): readonly string[] {
  if (answerParts === 1) return ["Here is the answer."];
  return Array.from({ length: answerParts }, (_, index) => `This is part ${index + 1} of ${answerParts}. `);
}

/** Whether a text has all of its parts once and in order. */
export function isWhole(text: string): boolean {
  const parts = [...text.matchAll(/part (\d) of (\d)/g)];
  const count = Number(parts[0]?.[2] ?? 0);
  return parts.length === count && parts.every(([, number], index) => Number(number) === index + 1);
}
