import { encodeText } from "./stored-text.ts";

/** A condition on `sessions.id`, and its values. */
export type ScopeCondition = { readonly sql: string; readonly values: readonly string[] };

/**
 * Builds the condition for the sessions of a scope. Ids are stored unchanged or, if they need escaping, as JSON. Each form
 * is a range of the index, because "~" is the same in both and the byte after it is "\u007f".
 */
export function buildScopeCondition(scope: string | undefined): ScopeCondition {
  if (scope === undefined) return { sql: "TRUE", values: [] };
  if (scope.includes("~")) return { sql: "FALSE", values: [] };
  if (scope === "")
    return { sql: "(instr(sessions.id, '~') < 2 OR substr(sessions.id, 1, 2) = '\"~')", values: [] };
  const quoted = toIdRange(JSON.stringify(scope).slice(0, -1));
  const plain = encodeText(scope) === scope ? toIdRange(scope) : quoted;
  return {
    sql: "(sessions.id >= ? AND sessions.id < ? OR sessions.id >= ? AND sessions.id < ?)",
    values: [...plain, ...quoted],
  };
}

function toIdRange(beginning: string): readonly [string, string] {
  return [`${beginning}~`, `${beginning}\u007f`];
}
