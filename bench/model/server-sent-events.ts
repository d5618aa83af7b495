export const encodeData = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
export const encodeNamedEvent = (value: {
  readonly type: string;
  readonly [field: string]: unknown;
}): string => `event: ${value.type}\n${encodeData(value)}`;

/** Pseudo-random letters, as providers add them to hide the length of a piece. */
export const createPadding = (n: number): string =>
  Math.imul(n + 1, 2_654_435_761)
    .toString(36)
    .replace("-", "");
