const inString = /["\\]/g;
const outsideStrings = /["{}[\]]/g;

/**
 * Creates a scanner that finds the end of a streamed object or array: returns the index after the closing bracket, or
 * -1 until it arrives. Brackets inside strings do not count. Does not validate the JSON.
 */
export function createJsonScanner(): (piece: string) => number {
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
      const pattern = isInString ? inString : outsideStrings;
      pattern.lastIndex = at;
      const found = pattern.exec(piece);
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
