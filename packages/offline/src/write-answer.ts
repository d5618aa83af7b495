import {
  type CallPart,
  toCanonicalJson,
  isRecord,
  type Json,
  type ModelRequest,
  type ResultEntry,
  type ToolSpec,
  toPlainText,
} from "capstan";
import { citeSources, sourcesIn, sourcesOf } from "./cite-sources.ts";
import { describeData, describeItem } from "./describe-data.ts";
import { type Done, doneSince, isCorrection } from "./done-calls.ts";
import { isOpenHandoff } from "./hand-over.ts";
import { dataOf, type Item, itemsIn, jsonIn, nameOf } from "./known-results.ts";
import { isMeasure } from "./measure.ts";
import { isIdName } from "./properties.ts";
import { sayInstead } from "./say-instead.ts";
import { cannot, isBeyond, smallTalk } from "./small-talk.ts";
import { spokenName } from "./spoken-name.ts";
import { lastSaid, wishesIn } from "./understand.ts";
import { undoneIn } from "./undone.ts";

/** An answer from what the tools gave since the person spoke. Every name and number in it comes from there. */
export function writeAnswer(request: ModelRequest): string {
  const done = doneSince(request.history);
  const results = worthTelling(done);
  const { text } = lastSaid(request.history);
  // A tool may have been called only because one had to be.
  const talk = smallTalk(text, request.tools);
  if (talk !== undefined) return talk;
  const undone = undoneIn(text, request.tools, done);
  const isUnknown = undone.length > 0 && wishesIn(text, request.tools).length === 0;
  if (results.length === 0 || isUnknown || isBeyond(text, request.tools)) return cannot(request);
  const options = { hideIds: hidesIds(request.instructions), tools: request.tools };
  const sources = sourcesOf(request);
  const told = results.map(({ call, result }, at) => {
    if (isPreparation(call, results.slice(at + 1))) return "";
    const found = result.status === "ok" ? sourcesIn(result, sources) : [];
    const asked = Object.values(call.input).filter((value) => typeof value === "string");
    const cited = citeSources(asked.join(" ") || text, found);
    return cited || tellUsed({ call, result }, results.slice(at + 1), options) || tellResult(result, options);
  });
  const left = undone.map((deed) => notDone(deed, request.tools));
  return (
    [...told, ...left].filter((line) => line.trim() !== "").join("\n\n") || "The tools gave nothing back."
  );
}

const notDone = (deed: string, tools: readonly ToolSpec[]): string =>
  `I have not done this: "${deed.trim().replace(/[.!?]+$/u, "")}". ${sayInstead(tools, { isTaking: true })}`.trim();

/** The instructions may say that people are not shown ids. */
export const hidesIds = (instructions: string): boolean =>
  /\b(?:never|not|don't|no)\b[^.\n]*\bids?\b/iu.test(instructions);

type Told = { readonly call: CallPart; readonly result: ResultEntry };

/** A failure that was made good is not worth a word. */
function worthTelling(done: readonly Done[]): Told[] {
  return done.flatMap((made) => {
    const { call, result } = made;
    if (!result) return [];
    const isRetried = done.some((later) => later.result?.status === "ok" && isCorrection(made, later));
    return isRetried || isOpenHandoff(result) ? [] : [{ call, result }];
  });
}

type Options = { readonly hideIds: boolean; readonly tools: readonly ToolSpec[] };

/** A thing that was looked up for a later step: what else is known of it, or nothing more than a space. */
function tellUsed({ call: own, result }: Told, later: readonly Told[], options: Options): string | undefined {
  // What was given the thing by its id did something with it, and is told.
  const items = itemsIn(dataOf(result)).filter((item) => usedOf([item], own.input).length === 0);
  const used = later.find(
    ({ call, result: next }) => next.status === "ok" && usedOf(items, call.input).length === 1,
  );
  const [item] = used ? usedOf(items, used.call.input) : [];
  if (!used || !item) return undefined;
  const said = toPlainText(used.result.content);
  const isTold = said.includes(nameOf(item) ?? "");
  const isMore = Object.entries(item).some(
    ([key, value]) => isMeasure(key, value) && !said.includes(String(value)),
  );
  return isTold && !isMore ? " " : `${describeItem(item, { ...options, most: 6 })}.`;
}

/** A file is read before it is changed: then only the change is told. */
const isPreparation = ({ name, input }: CallPart, later: readonly Told[]): boolean =>
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

/** The things whose ids are in the input of a call. */
function usedOf(items: readonly Item[], input: Json): Item[] {
  const values = new Set(leavesOf(input));
  return items.filter((item) =>
    Object.entries(item).some(([key, value]) => isIdName(key) && value !== null && values.has(value)),
  );
}

const leavesOf = (value: Json): Json[] =>
  typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [value];

function tellResult(result: ResultEntry, options: Options): string {
  const { name, status, content, error } = result;
  const text = toPlainText(content).trim();
  switch (status) {
    case "error":
      return `That did not work. ${capitalised(sentence(withoutLead(error?.message ?? text)))}`;
    case "denied":
      return `That was not done. ${sentence(error?.message ?? text)}`;
    case "skipped":
      return `${capitalised(spokenName(name, options.tools))} was skipped. ${sentence(error?.message ?? text)}`;
    case "interrupted":
      return `${capitalised(spokenName(name, options.tools))} was interrupted: it may or may not have taken effect.`;
    case "ok":
      return tellData(result, text, options);
  }
}

const withoutLead = (message: string): string => message.replace(/^Tool execution failed: /u, "");

function tellData(result: ResultEntry, text: string, options: Options): string {
  const data = dataOf(result);
  if (data === undefined)
    return text === ""
      ? `${capitalised(spokenName(result.name, options.tools))} is done.`
      : asIs(shortened(withoutFence(text)));
  const whole = jsonIn(text);
  const message = messageIn(whole) ?? result.message ?? messageIn(data) ?? (whole ? "" : text);
  // A list tells itself: then the tool's own words are not the answer.
  const isTold = itemsIn(data).length < 2 || isNegative(message);
  const head = isSentence(message) && isTold ? sentence(message) : "";
  const told = describeData(data, { ...options, said: head });
  const answer = [head, told].filter((line) => line !== "").join("\n");
  return (
    (answer || sentence(message) || `${capitalised(spokenName(result.name, options.tools))} is done.`) +
    offer(data)
  );
}

/** What was looked for is not there, and the result says what is. */
function offer(data: Json): string {
  if (!isRecord(data)) return "";
  const entries = Object.entries(data);
  const isNothing = entries.some(([key, value]) =>
    Array.isArray(value) ? value.length === 0 : value === 0 && /count|total|found|number/iu.test(key),
  );
  const hasOthers = entries.some(([, value]) => Array.isArray(value) && value.length > 0);
  return isNothing && hasOthers ? "\nDo you want one of these instead?" : "";
}

/** That there is nothing, or that it was not done, no list tells: it has something else. */
const isNegative = (message: string): boolean =>
  /^(?:no|none|nothing|nobody|not|sorry)\b|\b(?:is|are|was|were|did|does|do|could|can) ?no(?:t|thing)\b|n['’]t\b/iu.test(
    message,
  );

const isSentence = (text: string): boolean => text.trim().split(/\s+/u).length >= 3;

const messageIn = (data: unknown): string | undefined =>
  isRecord(data) && typeof data.message === "string" && data.message !== "" ? data.message : undefined;

/** Lines that belong together, such as those of a file, would run into each other, and signs in them become bold. */
function asIs(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length < 2 || lines.every((line) => /^\s*(?:[-*•]|\d+[.)]|#+|>) /u.test(line))) return text;
  const ticks = Math.max(2, ...(text.match(/`+/gu) ?? []).map(({ length }) => length)) + 1;
  return [`${"`".repeat(ticks)}`, text, `${"`".repeat(ticks)}`].join("\n");
}

/** The fence around the words of strangers, and the sentence before it, are for models. */
const withoutFence = (text: string): string =>
  text.replace(/^External content follows.*\n\[external (\w+)\]\n([\s\S]*)\n\[\/external \1\]/u, "$2");

const shortened = (text: string): string =>
  text.length > 3000 ? `${text.slice(0, 2999).toWellFormed()}…` : text;
const sentence = (text: string): string => (text === "" || /[.!?…:\]]\)?$/u.test(text) ? text : `${text}.`);
const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
