import { plainText } from "../../history.ts";
import type { ModelRequest } from "../../model.ts";
import type { Call, Done } from "./done-calls.ts";
import { fillArguments, type Input } from "./fill-arguments.ts";
import { propertiesOf } from "./properties.ts";
import { readValue } from "./read-value.ts";
import { lastSaid } from "./understand.ts";
import { distance, wordsOf } from "./words.ts";

/** The last call once more, corrected by what its error says; nothing when that is unclear or was tried before. */
export function correctCall({ tools, history }: ModelRequest, done: readonly Done[]): Call | undefined {
  const last = done.at(-1);
  const failures = done.filter(({ result }) => result?.status === "error");
  if (last?.result?.status !== "error" || failures.length > 1) return undefined;
  const message = last.result.error?.message ?? plainText(last.result.content);
  const { name, input } = last.call;
  const suggested = [...message.matchAll(/did you mean\s+["“`']?([^"”`'?]+)/giu)].map(
    ([, found]) => found?.trim() ?? "",
  );
  const meant = tools.find((tool) => suggested.includes(tool.name));
  if (meant) return { name: meant.name, input };
  const tool = tools.find((candidate) => candidate.name === name);
  if (!tool) return undefined;
  for (const value of suggested) {
    const key = Object.keys(input).find((candidate) => isCloseTo(input[candidate], value));
    if (key) return { name, input: { ...input, [key]: value } };
  }
  const words = wordsOf(lastSaid(history).text);
  const named = new Set(message.split(/[^\p{L}\p{N}_$-]+/u));
  const concerned = propertiesOf(tool).filter((property) => named.has(property.name));
  const changed: Record<string, Input[string]> = {};
  for (const property of concerned) {
    const filled = fillArguments({ tool: withRequired(tool, property.name), score: 0 }, words, history).input[
      property.name
    ];
    const current = input[property.name];
    // A value of the wrong type may be the right one, written otherwise: "5" for 5.
    const value = current === undefined ? filled : readValue(String(current), property);
    if (value !== undefined && value !== current) changed[property.name] = value;
  }
  return Object.keys(changed).length > 0 ? { name, input: { ...input, ...changed } } : undefined;
}

const isCloseTo = (value: Input[string] | undefined, suggestion: string): boolean =>
  typeof value === "string" &&
  (distance(value.toLowerCase(), suggestion.toLowerCase()) <= 2 ||
    suggestion.toLowerCase().includes(value.toLowerCase()));

function withRequired(tool: ModelRequest["tools"][number], name: string): ModelRequest["tools"][number] {
  const required = Array.isArray(tool.input.required) ? tool.input.required : [];
  return { ...tool, input: { ...tool.input, required: [...required, name] } };
}
