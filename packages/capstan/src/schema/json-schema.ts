import { AgentError } from "../errors.ts";
import { compileSchema } from "./compile-schema.ts";
import { type IssuesOf, loadValidator } from "./load-validator.ts";

export type JsonSchema = { readonly [keyword: string]: unknown };

const mostCharacters = 1_000_000;
const mostDepth = 64;

/**
 * Checks values by JSON Schema 2020-12. A schema that cannot be checked is refused here, with `invalid_definition`;
 * only what the engine for patterns alone can know is refused with the first value.
 */
export function jsonValidator(
  json: JsonSchema,
  owner: string,
): (value: unknown) => Promise<readonly string[]> {
  checkSize(json, owner);
  const compiled = compileSchema(json, owner);
  let issuesOf: IssuesOf | undefined;
  return async (value) => {
    issuesOf ??= await loadValidator(compiled, owner);
    return issuesOf(value);
  };
}

/** Holds for every schema: a model has to read it, and code walks through it. */
export function checkSize(json: JsonSchema, owner: string): void {
  let left = mostCharacters;
  const refuse = (problem: string) => {
    throw new AgentError("invalid_definition", `The schema of ${owner} ${problem}.`);
  };
  const measure = (value: unknown, depth: number): void => {
    left -= typeof value === "object" && value !== null ? 2 : String(value).length + 1;
    // Checked while counting: a schema whose parts are shared may be small in memory and endless as text.
    if (left < 0) refuse(`is larger than ${mostCharacters} characters`);
    if (typeof value !== "object" || value === null) return;
    if (depth === 0) refuse(`is nested deeper than ${mostDepth} levels`);
    for (const [key, member] of Object.entries(value)) {
      left -= Array.isArray(value) ? 0 : key.length + 3;
      measure(member, depth - 1);
    }
  };
  measure(json, mostDepth);
}
