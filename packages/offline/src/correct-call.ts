import { type ToolSpec, toPlainText } from "capstan";
import { type Call, isNew } from "./done-calls.ts";
import { fillArguments, type Input } from "./fill-arguments.ts";
import type { Situation } from "./plan-step.ts";
import { propertiesOf } from "./properties.ts";
import { readValue } from "./read-value.ts";
import { distance, wordsOf } from "./words.ts";

/** The last call once more, corrected by what its error says; nothing when that is unclear or was tried before. */
export function correctCall(situation: Situation): Call | undefined {
  const { request, done } = situation;
  const last = done.at(-1);
  const failures = done.filter(({ result }) => result?.status === "error");
  if (last?.result?.status !== "error" || failures.length > 1) return undefined;
  const message = last.result.error?.message ?? toPlainText(last.result.content);
  const { name, input } = last.call;
  const suggested = suggestionsIn(message);
  const meant =
    request.tools.find((tool) => suggested.includes(tool.name)) ?? advisedIn(message, request.tools);
  const tool = request.tools.find((candidate) => candidate.name === name);
  const call = meant
    ? { name: meant.name, input }
    : tool && (withSuggestion(last.call, suggested) ?? withNamed(tool, last.call, { situation, message }));
  return call &&
    isNew(
      call,
      done.map((made) => made.call),
    )
    ? call
    : undefined;
}

/** "That is a folder. Use listFolder": another tool does it. What is not there, no tool has. */
function advisedIn(message: string, tools: readonly ToolSpec[]): ToolSpec | undefined {
  const name = /\bUse (\w+)/u.exec(message)?.[1];
  return /\b(?:no|not|never)\b/iu.test(message) ? undefined : tools.find((tool) => tool.name === name);
}

const suggestionsIn = (message: string): string[] =>
  [...message.matchAll(/did you mean\s+["“`']?([^"”`'?]+)/giu)].map(([, found]) => found?.trim() ?? "");

function withSuggestion({ name, input }: Call, suggested: readonly string[]): Call | undefined {
  for (const value of suggested) {
    const key = Object.keys(input).find((candidate) => isCloseTo(input[candidate], value));
    if (key) return { name, input: { ...input, [key]: value } };
  }
  return undefined;
}

type Failure = { readonly situation: Situation; readonly message: string };

/** An argument that the error names, filled in or written otherwise: "5" for 5. */
function withNamed(tool: ToolSpec, { name, input }: Call, { situation, message }: Failure): Call | undefined {
  const { meaning, scene } = situation;
  const words = wordsOf(meaning.text);
  const named = new Set(message.split(/[^\p{L}\p{N}_$-]+/u));
  const concerned = propertiesOf(tool).filter(({ name: key, type }) => named.has(key) && type !== "array");
  const changed: Record<string, Input[string]> = {};
  for (const property of concerned) {
    const needed = { ...tool, input: { ...tool.input, required: [...requiredOf(tool), property.name] } };
    const current = input[property.name];
    const value =
      current === undefined
        ? fillArguments({ tool: needed, score: 0 }, words, scene).input[property.name]
        : readValue(String(current), property);
    if (value !== undefined && value !== current) changed[property.name] = value;
  }
  return Object.keys(changed).length > 0 ? { name, input: { ...input, ...changed } } : undefined;
}

const isCloseTo = (value: Input[string] | undefined, suggestion: string): boolean =>
  typeof value === "string" &&
  (distance(value.toLowerCase(), suggestion.toLowerCase()) <= 2 ||
    suggestion.toLowerCase().includes(value.toLowerCase()));

const requiredOf = ({ input }: ToolSpec): readonly string[] =>
  Array.isArray(input.required) ? input.required : [];
