/** ` Did you mean "search"?` for the known names closest to a misspelt one; empty when nothing is close. */
export function nearest(name: string, known: readonly string[]): string {
  const wanted = name.slice(0, 64).toLowerCase();
  const close = known
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.slice(0, 64).toLowerCase()) }))
    .filter(
      ({ candidate, distance }) =>
        distance < candidate.length && distance <= Math.max(2, Math.floor(candidate.length / 3)),
    )
    .sort((left, right) => left.distance - right.distance)
    .slice(0, 3)
    .map(({ candidate }) => `"${candidate}"`);
  return close.length > 0 ? ` Did you mean ${close.join(" or ")}?` : "";
}

function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let line = 1; line <= left.length; line++) {
    const next = [line];
    for (let column = 1; column <= right.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (left[line - 1] === right[column - 1] ? 0 : 1);
      next[column] = Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1);
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
