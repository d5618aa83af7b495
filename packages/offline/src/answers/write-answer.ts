import {
  type CallPart,
  type Json,
  type ModelRequest,
  type ToolSpec,
  toCanonicalJson,
  toPlainText,
} from "capstan";
import { type CallRecord, getCallRecords, isCorrection } from "../dialog/call-records.ts";
import { extractItems, getData, getItemName, type Item } from "../dialog/collect-results.ts";
import { getLastUtterance, listSkippedRemovals, parseIntents } from "../dialog/parse-intents.ts";
import { isPathName } from "../language/read-value.ts";
import { toNameStems } from "../language/words.ts";
import { isIdName } from "../matching/properties.ts";
import { handoffName } from "../matching/vocabulary.ts";
import { isOpenHandoff } from "../planning/handoff.ts";
import { readAnswerStyle } from "./answer-style.ts";
import { citeSources, collectSources, filterSources } from "./cite-sources.ts";
import { suggestPhrases } from "./clarify.ts";
import { formatItemCount } from "./count-items.ts";
import { describeItem } from "./describe-data.ts";
import {
  type CallResult,
  describeResult,
  formatNothing,
  isEmptyResult,
  type ResultOptions,
} from "./describe-result.ts";
import { answerSmallTalk, formatRefusal, isUnsupportedAction } from "./small-talk.ts";
import { toQuestion } from "./to-question.ts";
import { isMeasure } from "./units.ts";

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
  const options = { ...readAnswerStyle(request.instructions), tools: request.tools, question: text };
  const sources = collectSources(request);
  const wanted = new Set(parseIntents(text, request.tools).map(({ match }) => match.tool.name));
  const fruitless = new Set<number>();
  const told = results.map(({ call, result }, at) => {
    const later = results.slice(at + 1);
    if (isPreparation(call, later) || (!wanted.has(call.name) && isFileSearch(results, at))) return "";
    // The answer of another agent already has its citations.
    const isCited = call.name === handoffName;
    const found = result.status === "ok" && !isCited ? filterSources(result, sources) : [];
    const cited = citeSources(toQuestion(call, text, request.tools), found);
    if (cited === "" && found.length > 0) {
      fruitless.add(at);
      return formatNothing(call, result.message ?? "");
    }
    if (result.status === "ok" && isEmptyResult(getData(result) ?? null)) fruitless.add(at);
    const counted = cited === "" ? undefined : formatItemCount(text, extractItems(getData(result)));
    return (
      [...(counted === undefined ? [] : [counted]), cited].join("\n") ||
      describeUsedItem({ call, result }, later, options) ||
      describeResult({ call, result }, options)
    );
  });
  // Of several searches for the same text, only one reports that it found nothing, and none if another found it.
  const isReported = (at: number) => {
    const same = results.flatMap(({ call }, other) =>
      other === at || sharesText(call.input, results[at]?.call.input ?? {}) ? other : [],
    );
    return !fruitless.has(at) || (same[0] === at && same.every((other) => fruitless.has(other)));
  };
  const reported = told.filter((_, at) => isReported(at));
  const left = undone.map((deed) => formatSkippedRemoval(deed, request.tools));
  return (
    [...reported, ...left].filter((line) => line.trim() !== "").join("\n\n") || "The tools gave nothing back."
  );
}

const sharesText = (left: Item, right: Item): boolean =>
  Object.values(left).some((value) => typeof value === "string" && Object.values(right).includes(value));

const formatSkippedRemoval = (deed: string, tools: readonly ToolSpec[]): string =>
  `I have not done this: "${deed.trim().replace(/[.!?]+$/u, "")}". ${suggestPhrases(tools, { isRemoval: true })}`.trim();

/** The results to report. A failure that was retried successfully is omitted. */
function selectResults(records: readonly CallRecord[]): CallResult[] {
  return records.flatMap((made) => {
    const { call, result } = made;
    if (!result) return [];
    const isRetried = records.some((later) => later.result?.status === "ok" && isCorrection(made, later));
    return isRetried || isOpenHandoff(result) ? [] : [{ call, result }];
  });
}

/** Describes an item found for a later call, or returns a space without one. */
function describeUsedItem(
  { call: own, result }: CallResult,
  later: readonly CallResult[],
  options: ResultOptions,
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

/** True if files were listed to find one for another call. */
const isFileSearch = (results: readonly CallResult[], at: number): boolean =>
  toNameStems(results[at]?.call.name ?? "").includes("list") &&
  results.some(({ call }, index) => index !== at && Object.keys(call.input).some(isPathName));

/** The items whose ids occur in the input of a call. */
function findUsedItems(items: readonly Item[], input: Json): Item[] {
  const values = new Set(collectLeaves(input));
  return items.filter((item) =>
    Object.entries(item).some(([key, value]) => isIdName(key) && value !== null && values.has(value)),
  );
}

const collectLeaves = (value: Json): Json[] =>
  typeof value === "object" && value !== null ? Object.values(value).flatMap(collectLeaves) : [value];
