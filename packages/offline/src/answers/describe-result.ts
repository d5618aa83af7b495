import { type CallPart, isRecord, type Json, type ResultEntry, type ToolSpec, toPlainText } from "capstan";
import { extractItems, getData, parseJsonText, parseTextItems } from "../dialog/collect-results.ts";
import { isAddress, isPathName } from "../language/read-value.ts";
import type { AnswerStyle } from "./answer-style.ts";
import { formatSpokenName } from "./clarify.ts";
import { formatItemCount } from "./count-items.ts";
import { describeData } from "./describe-data.ts";
import { stripModelAdvice } from "./plain-words.ts";

export type CallResult = { readonly call: CallPart; readonly result: ResultEntry };

export type ResultOptions = AnswerStyle & {
  readonly tools: readonly ToolSpec[];
  readonly question: string;
};

/** Describes a result in plain words. Text for the model only is omitted. */
export function describeResult({ call, result }: CallResult, options: ResultOptions): string {
  const { name, status, content, error } = result;
  const text = toPlainText(content).trim();
  switch (status) {
    case "error":
      return `That did not work. ${capitalizeFirst(endWithPeriod(stripModelAdvice(stripErrorPrefix(error?.message ?? text))))}`.trim();
    case "denied":
      return `That was not done. ${endWithPeriod(error?.message ?? text)}`;
    case "skipped":
      return `${capitalizeFirst(formatSpokenName(name, options.tools))} was skipped. ${endWithPeriod(error?.message ?? text)}`;
    case "interrupted":
      return `${capitalizeFirst(formatSpokenName(name, options.tools))} was interrupted: it may or may not have taken effect.`;
    case "ok":
      return describeResultData({ call, result }, text, options);
  }
}

const stripErrorPrefix = (message: string): string => message.replace(/^Tool execution failed: /u, "");

function describeText(
  { call, result }: CallResult,
  text: string,
  { tools, question }: ResultOptions,
): string {
  if (text === "") return `${capitalizeFirst(formatSpokenName(result.name, tools))} is done.`;
  const plain = stripNotesForModel(stripUntrustedFence(text));
  const path = findCallPath(call);
  if (path !== undefined && /\bhow (?:long|big)\b|\bhow many lines\b/iu.test(question))
    return `${path} has ${plain.split("\n").length} lines.`;
  const count = formatItemCount(question, parseTextItems(plain));
  // A file that the user described in words is named.
  const isNamed = path === undefined || question.toLowerCase().includes(path.toLowerCase());
  const head = count ?? (isNamed ? undefined : `${path}:`);
  return [...(head === undefined ? [] : [head]), fenceLines(truncateAnswer(plain))].join("\n");
}

/** The file that a call read. */
const findCallPath = ({ input }: CallPart): string | undefined =>
  Object.entries(input)
    .filter(([key]) => isPathName(key))
    .map(([, value]) => value)
    .find((value) => typeof value === "string" && isAddress(value) && !/^https?:/u.test(value)) as
    | string
    | undefined;

/** Removes the ids of passages, and how to continue a part of a file. */
const stripNotesForModel = (text: string): string =>
  text.replace(/[ \t]*\(passage \w+\)/gu, "").replace(/: continue with [^\].]*(?=\.\]$)/u, "");

function describeResultData({ call, result }: CallResult, text: string, options: ResultOptions): string {
  const data = getData(result);
  const isFile = result.data === undefined && findCallPath(call) !== undefined;
  if (data === undefined || isFile) return describeText({ call, result }, text, options);
  const whole = parseJsonText(text);
  const message = findMessage(whole) ?? result.message ?? findMessage(data) ?? (whole ? "" : text);
  if (options.hideMessages && isEmptyResult(data)) return formatNothing(call, message);
  // A list speaks for itself, so the tool's message is omitted.
  const isTold = !options.hideMessages && (extractItems(data).length < 2 || isNegative(message));
  const head = isSentence(message) && isTold ? endWithPeriod(message) : "";
  const isOffer = offersAlternatives(data);
  const told = describeData(data, { ...options, said: head, isOffer });
  const answer = [head, told].filter((line) => line !== "").join("\n");
  return (
    (answer ||
      endWithPeriod(message) ||
      `${capitalizeFirst(formatSpokenName(result.name, options.tools))} is done.`) +
    (isOffer ? "\nDo you want one of these instead?" : "")
  );
}

/** True for data that consists of empty lists. */
export const isEmptyResult = (data: Json): boolean =>
  isRecord(data) &&
  Object.keys(data).length > 0 &&
  Object.values(data).every((value) => Array.isArray(value) && value.length === 0);

/** Names the search, with the tool's suggestion. */
export function formatNothing({ input }: CallPart, message: string): string {
  const searched = Object.values(input).filter((value) => typeof value === "string");
  const suggestion = /\bDid you mean [^?]*\?/u.exec(message)?.[0];
  const nothing = searched.length > 0 ? `I found nothing for "${searched.join(", ")}".` : "I found nothing.";
  return [nothing, ...(suggestion === undefined ? [] : [suggestion])].join(" ");
}

/** True if nothing was found but the result lists other items. */
function offersAlternatives(data: Json): boolean {
  if (!isRecord(data)) return false;
  const entries = Object.entries(data);
  const isNothing = entries.some(([key, value]) =>
    Array.isArray(value) ? value.length === 0 : value === 0 && /count|total|found|number/iu.test(key),
  );
  const hasOthers = entries.some(([, value]) => Array.isArray(value) && value.some(isRecord));
  return isNothing && hasOthers;
}

/** A negative message is kept, because a list of alternatives does not say that nothing was found. */
const isNegative = (message: string): boolean =>
  /^(?:no|none|nothing|nobody|not|sorry)\b|\b(?:is|are|was|were|did|does|do|could|can) ?no(?:t|thing)\b|n['’]t\b/iu.test(
    message,
  );

const isSentence = (text: string): boolean => text.trim().split(/\s+/u).length >= 3;

const findMessage = (data: unknown): string | undefined =>
  isRecord(data) && typeof data.message === "string" && data.message !== "" ? data.message : undefined;

/** Fences multi-line text such as a file, so that Markdown does not join its lines or format its characters. */
function fenceLines(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length < 2 || lines.every((line) => /^\s*(?:[-*•]|\d+[.)]|#+|>) /u.test(line))) return text;
  const ticks = Math.max(2, ...(text.match(/`+/gu) ?? []).map(({ length }) => length)) + 1;
  return [`${"`".repeat(ticks)}`, text, `${"`".repeat(ticks)}`].join("\n");
}

/** Removes the fence around untrusted content, which is meant for models. */
const stripUntrustedFence = (text: string): string =>
  text.replace(/^External content follows.*\n\[external (\w+)\]\n([\s\S]*)\n\[\/external \1\]/u, "$2");

const truncateAnswer = (text: string): string =>
  text.length > 3000 ? `${text.slice(0, 2999).toWellFormed()}…` : text;
const endWithPeriod = (text: string): string =>
  text === "" || /[.!?…:\]]\)?$/u.test(text) ? text : `${text}.`;
const capitalizeFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
