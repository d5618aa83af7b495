import type { ToolSpec } from "capstan";
import { getTechnicalNames } from "./plain-words.ts";

/** What the tools can do, in plain words, from their descriptions: "search places by name". */
export const listAbilities = (tools: readonly ToolSpec[]): readonly string[] =>
  tools.flatMap(({ description }) => {
    const [verb = "", ...others] = getFirstClause(description).split(" ");
    const ability = [toInfinitive(verb), ...others].join(" ");
    // Some tools only serve other tools.
    return verb === "" || getTechnicalNames(ability).length > 0 || /\b(?:ids?|agent)\b/iu.test(ability)
      ? []
      : [ability];
  });

/** The start of a description: its first sentence without further clauses. */
function getFirstClause(text: string): string {
  const first = /^.*?[.!?](?=\s|$)/su.exec(text)?.[0] ?? text;
  return (first.replace(/ \([^()]*\)/gu, "").split(furtherClause)[0] ?? "")
    .replace(/[.:,\s]+$/u, "")
    .replace(/\s+/gu, " ");
}

/** Such as the second verb of "Counts boats, lists their names". */
const furtherClause =
  /[;:]|, (?:given|such as|as|one|at most|with)\b|,? (?:and|or) \p{Ll}+s (?:it|its|the|one)\b|, \p{Ll}+s their\b/u;

/** "Searches" becomes "search". */
function toInfinitive(verb: string): string {
  const lower = verb.toLowerCase();
  if (/(?:ch|sh|ss|x)es$/u.test(lower)) return lower.slice(0, -2);
  return lower.endsWith("ies") ? `${lower.slice(0, -3)}y` : lower.replace(/(?<=[^s])s$/u, "");
}
