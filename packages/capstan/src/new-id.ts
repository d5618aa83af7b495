/**
 * An id that nobody else has. Joined, not added up: `randomUUID` gives a string of twenty small ones, which every fact
 * would keep.
 */
export function newId(...parts: readonly string[]): string {
  return [...parts, crypto.randomUUID()].join("");
}
