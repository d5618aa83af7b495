import { type Rules, toLiteral } from "../grammar/rules.ts";

/** A text to watch for, and the rule that follows it; without one the text is forbidden. */
export type Trigger = { readonly text: string; readonly next?: string };

/**
 * Adds rules for free text up to the first trigger, as an Aho-Corasick automaton: one rule per state, which is the
 * longest end of the text that may become a trigger.
 */
export function addTextRules(rules: Rules, triggers: readonly Trigger[], canEnd: boolean): string {
  const prefixes = new Set(
    triggers.flatMap(({ text }) => [...text].map((_, index) => [...text].slice(0, index).join(""))),
  );
  const letters = [...new Set(triggers.flatMap(({ text }) => [...text]))];
  const names = new Map([...prefixes].map((prefix) => [prefix, rules.reserve()]));
  const start = names.get("") ?? rules.reserve();
  for (const prefix of prefixes) {
    const choices = canEnd ? ['""'] : [];
    choices.push(`[^${letters.map(toClassCharacter).join("")}] ${start}`);
    for (const letter of letters) {
      const trigger = triggers.find(({ text }) => (prefix + letter).endsWith(text));
      if (trigger?.next !== undefined) choices.push(`${toLiteral(letter)} ${trigger.next}`);
      if (!trigger) choices.push(`${toLiteral(letter)} ${names.get(findState(prefix + letter, prefixes))}`);
    }
    rules.set(names.get(prefix) ?? start, choices.join(" | "));
  }
  if (prefixes.size === 0) rules.set(start, `${canEnd ? '"" | ' : ""}[^\\x00] ${start}`);
  return start;
}

/** Returns the longest end of the text that is the start of a trigger. */
function findState(text: string, prefixes: ReadonlySet<string>): string {
  let state = text;
  while (!prefixes.has(state)) state = [...state].slice(1).join("");
  return state;
}

const toClassCharacter = (character: string): string =>
  `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;
