import { toStored } from "./stored-text.ts";

/** A condition on the ids of `sessions`, and its values. */
export type ScopeCondition = { readonly sql: string; readonly values: readonly string[] };

/**
 * Which sessions are of a scope. An id is kept as it is, or as JSON when it has a character that must be: each form is
 * a range of the index, because "~" is the same in both and what comes after it in bytes is "\u007f".
 */
export function inScope(scope: string | undefined): ScopeCondition {
  if (scope === undefined) return { sql: "TRUE", values: [] };
  if (scope.includes("~")) return { sql: "FALSE", values: [] };
  if (scope === "")
    return { sql: "(instr(sessions.id, '~') < 2 OR substr(sessions.id, 1, 2) = '\"~')", values: [] };
  const quoted = rangeOf(JSON.stringify(scope).slice(0, -1));
  const plain = toStored(scope) === scope ? rangeOf(scope) : quoted;
  return {
    sql: "(sessions.id >= ? AND sessions.id < ? OR sessions.id >= ? AND sessions.id < ?)",
    values: [...plain, ...quoted],
  };
}

function rangeOf(beginning: string): readonly [string, string] {
  return [`${beginning}~`, `${beginning}\u007f`];
}
