import { formatValue, suggestName } from "../base/definition.ts";
import { AgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { Scorer } from "./scorer.ts";
import { scorers } from "./scorers.ts";

/** A built-in scorer as data, for experiments that are started over HTTP. A text is a scorer without options. */
export type ScorerData =
  | "exact"
  | "contains"
  | "callSequence"
  | "forbiddenEffects"
  | "supportedCitations"
  | { readonly type: "callSequence"; readonly match?: "exact" | "in order" | "any order" }
  | { readonly type: "maxTurns" | "maxCost" | "maxTime"; readonly limit: number }
  | { readonly type: "jsonSchema"; readonly schema: object }
  | { readonly type: "judge"; readonly rubric: string; readonly model: string; readonly passAt?: number };

/** Creates a built-in scorer from data. Throws `invalid_input`. */
export function createScorer(data: ScorerData): Scorer {
  const given: Record<string, unknown> = typeof data === "string" ? { type: data } : { ...data };
  const { type, limit, schema, rubric, model, match, passAt } = given;
  const reject = (problem: string): never => {
    throw new AgentError("invalid_input", `The scorer ${formatValue(data)} cannot be used: ${problem}.`);
  };
  switch (type) {
    case "exact":
    case "contains":
    case "forbiddenEffects":
    case "supportedCitations":
      return scorers[type]();
    case "callSequence":
      if (match !== undefined && match !== "exact" && match !== "in order" && match !== "any order")
        return reject("its match is exact, in order or any order");
      return scorers.callSequence(match === undefined ? {} : { match });
    case "maxTurns":
    case "maxCost":
    case "maxTime":
      if (typeof limit !== "number" || !(limit >= 0)) return reject("it needs a limit from 0");
      return scorers[type](limit);
    case "jsonSchema":
      if (!isRecord(schema)) return reject("it needs a schema");
      return scorers.jsonSchema(schema);
    case "judge":
      if (typeof rubric !== "string" || rubric.trim() === "") return reject("it needs a rubric");
      if (typeof model !== "string" || model.trim() === "") return reject("it needs a model");
      return scorers.judge({ rubric, model, ...(typeof passAt === "number" && { passAt }) });
    default:
      return reject(
        `there is no such type.${suggestName(String(type), Object.keys(scorers))}`.replace(/\.$/, ""),
      );
  }
}
