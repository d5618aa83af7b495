/** Finds the end of a JSON object or list in a text that arrives in pieces. */
export type DepthCounter = {
  /** Returns the index after the value ends; undefined while it is open. */
  findEnd(text: string): number | undefined;
};

export function createDepthCounter(): DepthCounter {
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  const isLast = (character: string | undefined): boolean => {
    if (isEscaped) isEscaped = false;
    else if (isText && character === "\\") isEscaped = true;
    else if (character === '"') isText = !isText;
    else if (!isText && (character === "{" || character === "[")) depth++;
    else if (!isText && (character === "}" || character === "]")) return --depth === 0;
    return false;
  };
  return {
    findEnd(text) {
      for (let index = 0; index < text.length; index++) if (isLast(text[index])) return index + 1;
      return undefined;
    },
  };
}
