import {
  anyValue,
  checkDefinition,
  type FieldRule,
  functionField,
  isAtLeast,
  objectField,
  toChoiceRule,
} from "../base/definition.ts";
import { AgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { Agent } from "../kernel/agent.ts";
import type { Fact } from "../kernel/event.ts";
import { type EvalCase, readCases } from "./eval-case.ts";
import type { Scorer } from "./scorer.ts";
import { checkToolModes, type ToolModes } from "./tool-modes.ts";

/** The least that an experiment must reach to pass. */
export type Thresholds = {
  /** The part of the attempts that must pass all scorers. Default: 1, or 0 if `scores` is set. */
  readonly passRate?: number;
  /** The lowest mean of each scorer, by its name. */
  readonly scores?: { readonly [scorer: string]: number };
  /** The highest cost of all runs, in US dollars. */
  readonly cost?: number;
};

/** Which calls that need approval are approved: only calls of recorded and simulated tools, all, or none. */
export type ApprovalMode = "simulated" | "all" | "none";

export type EvalDefinition = {
  readonly name: string;
  /** The agent, a function that creates one for each attempt, or the name of an agent of the project. */
  readonly agent: Agent | string | ((evalCase: EvalCase) => Agent | Promise<Agent>);
  readonly cases: readonly EvalCase[] | (() => readonly EvalCase[] | Promise<readonly EvalCase[]>);
  readonly scorers: readonly Scorer[];
  /** Runs of each case. Default: 1. */
  readonly attempts?: number;
  readonly thresholds?: Thresholds;
  /** Which tools are real (default), recorded or simulated. */
  readonly tools?: ToolModes;
  /**
   * Where recorded tools take their answers from: a file, or the facts of an earlier run. Default: the run that a case
   * was saved from.
   */
  readonly recordings?: string | readonly Fact[];
  /** Default: `simulated`; other calls that need approval are denied. */
  readonly approvals?: ApprovalMode;
  /** The context of each run. Default: the context of the case. */
  readonly context?: (evalCase: EvalCase) => unknown;
  /** Called when the experiment is over, to close what the eval has opened. */
  readonly close?: () => unknown;
};

/** A defined eval. */
export type Eval = EvalDefinition & { readonly attempts: number };

const maxAttempts = 100;

const evalFields: Readonly<Record<keyof EvalDefinition, FieldRule>> = {
  name: anyValue,
  agent: {
    hint: "an agent, a function that creates one, or its name",
    accepts: (value) =>
      typeof value === "function" ||
      (typeof value === "string" && value !== "") ||
      (isRecord(value) && isRecord(value.models)),
  },
  cases: {
    hint: "a list of cases, or a function that returns one",
    accepts: (value) => Array.isArray(value) || typeof value === "function",
  },
  scorers: {
    hint: "a list of scorers, such as `scorers.exact()`",
    accepts: (value) => Array.isArray(value) && value.length > 0 && value.every(isScorer),
  },
  attempts: {
    hint: `a whole number from 1 to ${maxAttempts}`,
    accepts: (value) => Number.isInteger(value) && isAtLeast(1, value) && Number(value) <= maxAttempts,
  },
  thresholds: objectField,
  tools: objectField,
  recordings: {
    hint: "a file, or the facts of a run",
    accepts: (value) => typeof value === "string" || Array.isArray(value),
  },
  approvals: toChoiceRule(["simulated", "all", "none"] satisfies ApprovalMode[]),
  context: functionField,
  close: functionField,
};

/** Defines an eval: an agent, cases, and scorers that judge its runs. Throws `invalid_definition`. */
export function defineEval(definition: EvalDefinition): Eval {
  const { name, cases, scorers, thresholds = {}, tools = {} } = definition;
  if (typeof name !== "string" || !/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,79}$/u.test(name)) {
    const message = `An eval needs a name of 1 to 80 letters, digits, spaces, dots or dashes, not ${JSON.stringify(name)}.`;
    throw new AgentError("invalid_definition", message);
  }
  const owner = `eval ${JSON.stringify(name)}`;
  checkDefinition(owner, definition, evalFields);
  const names = scorers.map((scorer) => scorer.name);
  const twice = names.find((scorer, index) => names.indexOf(scorer) !== index);
  if (twice !== undefined)
    throw new AgentError("invalid_definition", `The ${owner} has two scorers named "${twice}": rename one.`);
  checkThresholds(thresholds, owner, names);
  checkToolModes(tools, `the ${owner}`);
  if (Array.isArray(cases)) readCases(cases, `the ${owner}`);
  return { attempts: 1, ...definition };
}

function isScorer(value: unknown): boolean {
  return (
    isRecord(value) &&
    typeof value.name === "string" &&
    value.name !== "" &&
    typeof value.score === "function"
  );
}

function checkThresholds(
  { passRate, scores = {}, cost }: Thresholds,
  owner: string,
  names: readonly string[],
): void {
  const isRate = (value: unknown) => value === undefined || (isAtLeast(0, value) && Number(value) <= 1);
  const unknown = Object.keys(scores).find((scorer) => !names.includes(scorer));
  const problem =
    unknown !== undefined
      ? `names the scorer "${unknown}", which it does not have`
      : !isRate(passRate) || !Object.values(scores).every(isRate)
        ? "must have rates from 0 to 1"
        : cost !== undefined && !isAtLeast(0, cost)
          ? "must have a cost from 0"
          : undefined;
  if (problem !== undefined)
    throw new AgentError("invalid_definition", `The threshold of the ${owner} ${problem}.`);
}
