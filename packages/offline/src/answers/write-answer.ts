import {
  type CallPart,
  isRecord,
  type Json,
  type ModelRequest,
  type ResultEntry,
  type ToolSpec,
  toCanonicalJson,
  toPlainText,
} from "capstan";
import { type CallRecord, getCallRecords, isCorrection } from "../dialog/call-records.ts";
import { extractItems, getData, getItemName, type Item, parseJsonText } from "../dialog/collect-results.ts";
import { getLastUtterance, listSkippedRemovals, parseIntents } from "../dialog/parse-intents.ts";
import { isIdName } from "../matching/properties.ts";
import { isOpenHandoff } from "../planning/handoff.ts";
import { type AnswerStyle, readAnswerStyle } from "./answer-style.ts";
import { citeSources, collectSources, filterSources } from "./cite-sources.ts";
import { formatSpokenName, suggestPhrases } from "./clarify.ts";
import { describeData, describeItem, isMeasure } from "./describe-data.ts";

import { answerSmallTalk, formatRefusal, isUnsupportedAction } from "./small-talk.ts";

/** Writes the answer from the results since the last user message. Every name and number comes from them. */
export function writeAnswer(request: ModelRequest): string {
  const records = getCallRecords(request.history);
  const results = selectResults(records);
  const { text } = getLastUtterance(request.history);
  // A tool may have been called only because a call was required.
  const talk = answerSmallTalk(text, request.tools);
  if (talk !== undefined) return talk;
  const undone = listSkippedRemovals(text, request.tools, records);
  const isUnknown = undone.length > 0 && parseIntents(text, request.tools).length === 0;
  if (results.length === 0 || isUnknown || isUnsupportedAction(text, request.tools))
    return formatRefusal(request);
  const options = { ...readAnswerStyle(request.instructions), tools: request.tools };
  const sources = collectSources(request);
  const told = results.map(({ call, result }, at) => {
    if (isPreparation(call, results.slice(at + 1))) return "";
    const found = result.status === "ok" ? filterSources(result, sources) : [];
    const asked = Object.values(call.input).filter((value) => typeof value === "string");
    const cited = citeSources(asked.join(" ") || text, found);
    return (
      cited ||
      describeUsedItem({ call, result }, results.slice(at + 1), options) ||
      describeResult(result, options)
    );
  });
  const left = undone.map((deed) => formatSkippedRemoval(deed, request.tools));
  return (
    [...told, ...left].filter((line) => line.trim() !== "").join("\n\n") || "The tools gave nothing back."
  );
}

const formatSkippedRemoval = (deed: string, tools: readonly ToolSpec[]): string =>
  `I have not done this: "${deed.trim().replace(/[.!?]+$/u, "")}". ${suggestPhrases(tools, { isRemoval: true })}`.trim();

type CallResult = { readonly call: CallPart; readonly result: ResultEntry };

/** The results to report. A failure that was retried successfully is omitted. */
function selectResults(records: readonly CallRecord[]): CallResult[] {
  return records.flatMap((made) => {
    const { call, result } = made;
    if (!result) return [];
    const isRetried = records.some((later) => later.result?.status === "ok" && isCorrection(made, later));
    return isRetried || isOpenHandoff(result) ? [] : [{ call, result }];
  });
}

type Options = AnswerStyle & { readonly tools: readonly ToolSpec[] };

/** Describes an item found for a later call, or returns a space without one. */
function describeUsedItem(
  { call: own, result }: CallResult,
  later: readonly CallResult[],
  options: Options,
): string | undefined {
  // Skip items that were passed to the call by id: the call acted on them.
  const items = extractItems(getData(result)).filter((item) => findUsedItems([item], own.input).length === 0);
  const used = later.find(
    ({ call, result: next }) => next.status === "ok" && findUsedItems(items, call.input).length === 1,
  );
  const [item] = used ? findUsedItems(items, used.call.input) : [];
  if (!used || !item) return undefined;
  const said = toPlainText(used.result.content);
  const isTold = said.includes(getItemName(item) ?? "");
  const isMore = Object.entries(item).some(
    ([key, value]) => isMeasure(key, value) && !said.includes(String(value)),
  );
  return isTold && !isMore ? " " : `${describeItem(item, { ...options, maxProperties: 6 })}.`;
}

/** True if a call only prepared a later one, as when a file is read before it is edited. */
const isPreparation = ({ name, input }: CallPart, later: readonly CallResult[]): boolean =>
  Object.keys(input).length > 0 &&
  later.some(
    ({ call, result }) =>
      call.name !== name &&
      result.status === "ok" &&
      Object.keys(call.input).length > Object.keys(input).length &&
      Object.entries(input).every(
        ([key, value]) => toCanonicalJson(call.input[key] ?? null) === toCanonicalJson(value),
      ),
  );

/** The items whose ids occur in the input of a call. */
function findUsedItems(items: readonly Item[], input: Json): Item[] {
  const values = new Set(collectLeaves(input));
  return items.filter((item) =>
    Object.entries(item).some(([key, value]) => isIdName(key) && value !== null && values.has(value)),
  );
}

const collectLeaves = (value: Json): Json[] =>
  typeof value === "object" && value !== null ? Object.values(value).flatMap(collectLeaves) : [value];

function describeResult(result: ResultEntry, options: Options): string {
  const { name, status, content, error } = result;
  const text = toPlainText(content).trim();
  switch (status) {
    case "error":
      return `That did not work. ${capitalizeFirst(endWithPeriod(stripErrorPrefix(error?.message ?? text)))}`;
    case "denied":
      return `That was not done. ${endWithPeriod(error?.message ?? text)}`;
    case "skipped":
      return `${capitalizeFirst(formatSpokenName(name, options.tools))} was skipped. ${endWithPeriod(error?.message ?? text)}`;
    case "interrupted":
      return `${capitalizeFirst(formatSpokenName(name, options.tools))} was interrupted: it may or may not have taken effect.`;
    case "ok":
      return describeResultData(result, text, options);
  }
}

const stripErrorPrefix = (message: string): string => message.replace(/^Tool execution failed: /u, "");

function describeResultData(result: ResultEntry, text: string, options: Options): string {
  const data = getData(result);
  if (data === undefined)
    return text === ""
      ? `${capitalizeFirst(formatSpokenName(result.name, options.tools))} is done.`
      : fenceLines(truncateAnswer(stripUntrustedFence(text)));
  const whole = parseJsonText(text);
  const message = findMessage(whole) ?? result.message ?? findMessage(data) ?? (whole ? "" : text);
  // A list speaks for itself, so the tool's message is omitted.
  const isTold = !options.hideMessages && (extractItems(data).length < 2 || isNegative(message));
  const head = isSentence(message) && isTold ? endWithPeriod(message) : "";
  const told = describeData(data, { ...options, said: head });
  const answer = [head, told].filter((line) => line !== "").join("\n");
  return (
    (answer ||
      endWithPeriod(message) ||
      `${capitalizeFirst(formatSpokenName(result.name, options.tools))} is done.`) +
    formatAlternativesOffer(data)
  );
}

/** Offers alternatives if nothing was found but the result lists other items. */
function formatAlternativesOffer(data: Json): string {
  if (!isRecord(data)) return "";
  const entries = Object.entries(data);
  const isNothing = entries.some(([key, value]) =>
    Array.isArray(value) ? value.length === 0 : value === 0 && /count|total|found|number/iu.test(key),
  );
  const hasOthers = entries.some(([, value]) => Array.isArray(value) && value.length > 0);
  return isNothing && hasOthers ? "\nDo you want one of these instead?" : "";
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
