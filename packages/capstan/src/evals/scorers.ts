import { formatShortJson, type Json, toCanonicalJson } from "../base/json.ts";
import { type SchemaInput, toSchema } from "../schema/schema.ts";
import { callSequence } from "./call-sequence.ts";
import { judge } from "./judge.ts";
import type { ScoredRun, Scorer } from "./scorer.ts";
import { supportedCitations } from "./supported-citations.ts";

/** The built-in scorers. A scorer of your own is an object with a `name` and a function `score`. */
export const scorers: Scorers = {
  exact,
  contains,
  jsonSchema,
  callSequence,
  forbiddenEffects,
  supportedCitations,
  maxTurns,
  maxCost,
  maxTime,
  judge,
};

type Scorers = {
  readonly exact: typeof exact;
  readonly contains: typeof contains;
  readonly jsonSchema: typeof jsonSchema;
  readonly callSequence: typeof callSequence;
  readonly forbiddenEffects: typeof forbiddenEffects;
  readonly supportedCitations: typeof supportedCitations;
  readonly maxTurns: typeof maxTurns;
  readonly maxCost: typeof maxCost;
  readonly maxTime: typeof maxTime;
  readonly judge: typeof judge;
};

/** The answer is the expected one: the same text apart from white space at its ends, or the same value. */
function exact(): Scorer {
  return {
    name: "exact",
    score({ case: { expected }, text, output }) {
      if (expected === undefined) return undefined;
      const isEqual =
        typeof expected === "string" && output === undefined
          ? expected.trim() === text.trim()
          : toCanonicalJson(expected) === toCanonicalJson(output ?? parseFencedJson(text) ?? text);
      return (
        isEqual || {
          value: 0,
          reason: `expected ${formatShown(expected)}, got ${formatShown(output ?? text)}`,
        }
      );
    },
  };
}

/**
 * The answer contains the expected text, or each text of an expected list, regardless of case. The value is the part of
 * the list that was found.
 */
function contains(): Scorer {
  return {
    name: "contains",
    score({ case: { expected }, text }) {
      if (expected === undefined) return undefined;
      const parts = (Array.isArray(expected) ? expected : [expected]).map(stringifyValue);
      const answer = text.toLowerCase();
      const missing = parts.filter((part) => !answer.includes(part.toLowerCase()));
      if (missing.length === 0) return true;
      const value = 1 - missing.length / parts.length;
      return {
        value,
        passed: false,
        reason: `${missing.map(formatShown).join(", ")} not in ${formatShown(text)}`,
      };
    },
  };
}

/** The answer is JSON that matches the schema. */
function jsonSchema(schema: SchemaInput): Scorer {
  const { validate } = toSchema(schema, { owner: "the scorer jsonSchema" });
  return {
    name: "jsonSchema",
    async score({ text, output }) {
      const value = output ?? parseFencedJson(text);
      if (value === undefined) return { value: 0, reason: `not JSON: ${formatShown(text)}` };
      const result = await validate(value);
      return result.valid || { value: 0, reason: result.issues.slice(0, 5).join("; ") };
    },
  };
}

/** No forbidden tool was executed, by the run or by its nested runs. Adds `tools` to the `forbidden` ones of the case. */
function forbiddenEffects(tools: readonly string[] = []): Scorer {
  return {
    name: "forbiddenEffects",
    score({ case: { forbidden = [] }, executedTools }) {
      const patterns = [...tools, ...forbidden];
      if (patterns.length === 0) return undefined;
      const executed = executedTools.filter((name) => patterns.some((pattern) => matchesName(pattern, name)));
      return executed.length === 0 || { value: 0, reason: `executed: ${[...new Set(executed)].join(", ")}` };
    },
  };
}

function matchesName(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** The run took at most this many turns. */
function maxTurns(limit: number): Scorer {
  return limitScorer("maxTurns", limit, ({ turns }) => turns);
}

/** The run cost at most this much, in US dollars. */
function maxCost(limit: number): Scorer {
  return limitScorer("maxCost", limit, ({ cost }) => cost);
}

/** The run took at most this many milliseconds, without the time it waited for approvals. */
function maxTime(limit: number): Scorer {
  return limitScorer("maxTime", limit, ({ ms }) => ms);
}

function limitScorer(name: string, limit: number, measure: (run: ScoredRun) => number): Scorer {
  return {
    name,
    score(run) {
      const actual = measure(run);
      return actual <= limit || { value: 0, reason: `${actual} is more than ${limit}` };
    },
  };
}

function parseFencedJson(text: string): Json | undefined {
  // Models often fence their JSON.
  const [, fenced = text] = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text) ?? [];
  try {
    return JSON.parse(fenced) as Json;
  } catch {
    return undefined;
  }
}

function stringifyValue(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

const formatShown = (value: Json): string => formatShortJson(value, 200);
