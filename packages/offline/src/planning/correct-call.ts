import { type Json, type ToolSpec, toPlainText } from "capstan";
import { type Call, isNewCall } from "../dialog/call-records.ts";
import { fillArguments, type Input } from "../dialog/fill-arguments.ts";
import { readValue } from "../language/read-value.ts";
import { computeDistance, tokenize } from "../language/words.ts";
import { getProperties } from "../matching/properties.ts";
import type { PlanContext } from "./step.ts";

/**
 * Retries the last call with the correction that its error message suggests. Undefined if the message suggests none, or
 * if it was tried before.
 */
export function correctCall(plan: PlanContext): Call | undefined {
  const { request, records } = plan;
  const last = records.at(-1);
  const failures = records.filter(({ result }) => result?.status === "error");
  if (last?.result?.status !== "error" || failures.length > 1) return undefined;
  const message = last.result.error?.message ?? toPlainText(last.result.content);
  const { name, input } = last.call;
  const suggested = parseSuggestions(message);
  const suggestedTool =
    request.tools.find((tool) => suggested.includes(tool.name)) ?? findAdvisedTool(message, request.tools);
  const tool = request.tools.find((candidate) => candidate.name === name);
  const call = suggestedTool
    ? { name: suggestedTool.name, input }
    : tool &&
      (withSuggestion(last.call, suggested) ?? withNamedArguments(tool, last.call, { plan, message }));
  return call &&
    isNewCall(
      call,
      records.map((made) => made.call),
    )
    ? call
    : undefined;
}

/**
 * Finds the tool named in a message such as "That is a folder. Use listFolder". Undefined if the message reports something
 * missing.
 */
function findAdvisedTool(message: string, tools: readonly ToolSpec[]): ToolSpec | undefined {
  const name = /\bUse (\w+)/u.exec(message)?.[1];
  return /\b(?:no|not|never)\b/iu.test(message) ? undefined : tools.find((tool) => tool.name === name);
}

const parseSuggestions = (message: string): string[] =>
  [...message.matchAll(/did you mean\s+["“`']?([^"”`'?]+)/giu)].map(([, found]) => found?.trim() ?? "");

function withSuggestion({ name, input }: Call, suggested: readonly string[]): Call | undefined {
  for (const value of suggested) {
    const key = Object.keys(input).find((candidate) => resemblesSuggestion(input[candidate], value));
    if (key) return { name, input: { ...input, [key]: value } };
    const quoted = Object.entries(input).find(([, text]) => correctQuoted(text, value) !== text);
    if (quoted) return { name, input: { ...input, [quoted[0]]: correctQuoted(quoted[1], value) } };
  }
  return undefined;
}

/** Corrects the quoted part of a text such as `name == 'Bota'`. */
const correctQuoted = (text: Json, suggestion: string): Json =>
  typeof text === "string"
    ? text.replaceAll(/(?<=(['"]))[^'"]+(?=\1)/gu, (part) =>
        resemblesSuggestion(part, suggestion) ? suggestion : part,
      )
    : text;

type Failure = { readonly plan: PlanContext; readonly message: string };

/** Fills in or converts the arguments that the error names, for example 5 instead of "5". */
function withNamedArguments(
  tool: ToolSpec,
  { name, input }: Call,
  { plan, message }: Failure,
): Call | undefined {
  const { interpretation, context } = plan;
  const words = tokenize(interpretation.text);
  const named = new Set(message.split(/[^\p{L}\p{N}_$-]+/u));
  const concerned = getProperties(tool).filter(({ name: key, type }) => named.has(key) && type !== "array");
  const changed: Record<string, Input[string]> = {};
  for (const property of concerned) {
    const needed = { ...tool, input: { ...tool.input, required: [...getRequired(tool), property.name] } };
    const current = input[property.name];
    const value =
      current === undefined
        ? fillArguments({ tool: needed, score: 0 }, words, context).input[property.name]
        : readValue(String(current), property);
    if (value !== undefined && value !== current) changed[property.name] = value;
  }
  return Object.keys(changed).length > 0 ? { name, input: { ...input, ...changed } } : undefined;
}

const resemblesSuggestion = (value: Input[string] | undefined, suggestion: string): boolean =>
  typeof value === "string" &&
  (computeDistance(value.toLowerCase(), suggestion.toLowerCase()) <= 2 ||
    suggestion.toLowerCase().includes(value.toLowerCase()));

const getRequired = ({ input }: ToolSpec): readonly string[] =>
  Array.isArray(input.required) ? input.required : [];
