const inString = /["\\]/g;
const outsideStrings = /["{}[\]]/g;

/**
 * Finds the end of a list or object that comes in pieces: gives the place after its balancing bracket, or -1 while
 * that has not come. Brackets inside strings do not count. Whether it is JSON is not judged.
 */
export function jsonEnd(): (piece: string) => number {
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  return (piece) => {
    let at = 0;
    while (at < piece.length) {
      if (isEscaped) {
        isEscaped = false;
        at++;
        continue;
      }
      const sought = isInString ? inString : outsideStrings;
      sought.lastIndex = at;
      const found = sought.exec(piece);
      if (!found) return -1;
      at = found.index + 1;
      if (found[0] === "\\") isEscaped = true;
      else if (found[0] === '"') isInString = !isInString;
      else depth += found[0] === "{" || found[0] === "[" ? 1 : -1;
      if (depth === 0) return at;
    }
    return -1;
  };
}
