/** How many rows to give for what a caller asked: a number that every database takes. */
export function rowLimit(most: number): number {
  return Math.min(Math.max(0, Math.floor(most) || 0), 2 ** 31 - 1);
}
