import { AgentError } from "./errors.ts";
import { nearest } from "./near-names.ts";

/** Refuses fields that are not known: a misspelt setting would otherwise silently do nothing. */
export function checkFields(owner: string, definition: object, known: readonly string[]): void {
  for (const field of Object.keys(definition)) {
    if (known.includes(field)) continue;
    throw new AgentError(
      "invalid_definition",
      `Unknown field "${field}" of the ${owner}.${nearest(field, known)}`,
    );
  }
}
