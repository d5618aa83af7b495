/** ` Did you mean "search"?` for the known name closest to a misspelt one; empty when nothing is close. */
export function nearestName(name: string, known: readonly string[]): string {
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, Math.floor(candidate.length / 3)))
    .sort((left, right) => left.distance - right.distance);
  return ranked[0] ? ` Did you mean "${ranked[0].candidate}"?` : "";
}

function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (const [line, character] of [...left.slice(0, 64)].entries()) {
    const next = [line + 1];
    for (let column = 1; column <= right.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (character === right[column - 1] ? 0 : 1);
      next[column] = Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1);
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
