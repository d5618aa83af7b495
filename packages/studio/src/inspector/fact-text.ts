import type { Fact, Part, Usage } from "capstan";

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat("en");

/** A number of tokens as people read it: `950`, `12.3K`. */
export const shortNumber = (value: number): string => compact.format(value);

/** With all its digits. */
export const longNumber = (value: number): string => whole.format(value);

/** Dollars; the smaller they are, the more digits. */
export function costText(dollars: number): string {
  if (dollars === 0) return "$0";
  return `$${dollars.toFixed(dollars < 0.01 ? 4 : dollars < 1 ? 3 : 2)}`;
}

/** What a model call used, in a line. */
export function usageText({ inputTokens, outputTokens, cachedTokens = 0, cost, estimated }: Usage): string {
  const cached = cachedTokens > 0 ? ` (${shareText(cachedTokens, inputTokens)} cached)` : "";
  const said = [`${longNumber(inputTokens)} in${cached}`, `${longNumber(outputTokens)} out`];
  if (cost !== undefined && cost > 0) said.push(costText(cost));
  return said.join(" · ") + (estimated ? " · estimate" : "");
}

/** A part of a whole in percent. */
export function shareText(part: number, total: number): string {
  return `${total > 0 ? Math.round((100 * part) / total) : 0} %`;
}

/** What a run was asked, in plain words. */
export function questionOf({ input }: Extract<Fact, { type: "run_start" }>): string {
  const asked = input.findLast((entry) => entry.type === "user");
  return asked?.type === "user" ? contentLine(asked.content) : "";
}

/** Content as plain words. */
export function contentLine(content: string | readonly Part[]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ");
}
