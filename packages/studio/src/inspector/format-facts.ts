import type { Fact, Part, Usage } from "capstan";

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat("en");

/** Formats a number in compact form: `950`, `12.3K`. */
export const formatCompactNumber = (value: number): string => compact.format(value);

/** Formats a number with all digits. */
export const formatFullNumber = (value: number): string => whole.format(value);

/** Formats an amount; smaller amounts get more digits. */
export function formatDollars(dollars: number): string {
  if (dollars === 0) return "$0";
  return `$${dollars.toFixed(dollars < 0.01 ? 4 : dollars < 1 ? 3 : 2)}`;
}

/** Formats the usage of a model call in one line. */
export function formatTokenUsage({
  inputTokens,
  outputTokens,
  cachedTokens = 0,
  cacheWriteTokens = 0,
  cost,
  unpriced,
  estimated,
}: Usage): string {
  const cache = [
    ...(cachedTokens > 0 ? [`${formatPercent(cachedTokens, inputTokens)} cached`] : []),
    ...(cacheWriteTokens > 0 ? [`${formatFullNumber(cacheWriteTokens)} written to the cache`] : []),
  ];
  const cached = cache.length > 0 ? ` (${cache.join(", ")})` : "";
  const parts = [`${formatFullNumber(inputTokens)} in${cached}`, `${formatFullNumber(outputTokens)} out`];
  if (cost !== undefined && cost > 0) parts.push(formatDollars(cost));
  if (unpriced) parts.push("price unknown");
  return parts.join(" · ") + (estimated ? " · estimated" : "");
}

export function formatPercent(part: number, total: number): string {
  return `${total > 0 ? Math.round((100 * part) / total) : 0} %`;
}

/** Returns the last user input of a run as plain text. */
export function getQuestion({ input }: Extract<Fact, { type: "run_start" }>): string {
  const lastInput = input.findLast((entry) => entry.type === "user");
  return lastInput?.type === "user" ? flattenContent(lastInput.content) : "";
}

/** Returns content as plain text, with placeholders for other parts. */
export function flattenContent(content: string | readonly Part[]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ");
}
