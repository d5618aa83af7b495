export const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
export const named = (value: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${value.type}\n${data(value)}`;

/** Random letters, as providers add them to hide the length of a piece. */
export const padding = (n: number): string =>
  Math.imul(n + 1, 2_654_435_761)
    .toString(36)
    .replace("-", "");
