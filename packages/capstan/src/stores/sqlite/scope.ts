import { encodeText } from "./stored-text.ts";

/**
 * Returns the two values that `scopeColumn` has for the sessions of a scope: ids are stored unchanged or, if they need
 * escaping, as JSON. A scope that needs escaping occurs only in the second form; the first one then matches nothing.
 */
export function getStoredScopes(scope: string): readonly [string, string] {
  return [encodeText(scope) === scope ? scope : "~", JSON.stringify(scope).slice(0, -1)];
}
