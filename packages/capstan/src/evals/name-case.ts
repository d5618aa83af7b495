import { type RunInput, readInput } from "../runtime/input.ts";
import { getUserText, truncateTitle } from "../sessions/title.ts";

/** Leaves room for a number within the longest id of a case. */
const maxNameLength = 100;

/** Names a case by its question: the last message of the user on one line. Undefined without a text. */
export function findCaseName(input: RunInput): string | undefined {
  return truncateTitle(getUserText({ input: readInput(input).entries }), maxNameLength) || undefined;
}

/** Returns a function that makes names unique: one that is taken gets a number. */
export function createUniqueNamer(taken: Iterable<string>): (name: string) => string {
  const used = new Set(taken);
  const counts = new Map<string, number>();
  return (name) => {
    let [unique, count] = [name, counts.get(name) ?? 1];
    while (used.has(unique)) unique = `${name} (${++count})`;
    counts.set(name, count);
    used.add(unique);
    return unique;
  };
}
