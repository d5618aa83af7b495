import { type CallPart, plainText, type ResultEntry } from "../../history.ts";
import { canonical, isRecord, type Json } from "../../json.ts";
import type { ModelRequest } from "../../model.ts";
import { citeSources, sourcesIn, sourcesOf } from "./cite-sources.ts";
import { describeData, describeItem } from "./describe-data.ts";
import { type Done, doneSince } from "./done-calls.ts";
import { isOpenHandoff } from "./hand-over.ts";
import { dataOf, type Item, itemsIn, jsonIn, nameOf } from "./known-results.ts";
import { isMeasure } from "./measure.ts";
import { isIdName } from "./properties.ts";
import { cannot, isBeyond, smallTalk } from "./small-talk.ts";
import { lastSaid } from "./understand.ts";
import { inWords } from "./words.ts";

/** An answer from what the tools gave since the person spoke. Every name and number in it comes from there. */
export function writeAnswer(request: ModelRequest): string {
  const done = doneSince(request.history);
  const results = worthTelling(done);
  const { text } = lastSaid(request.history);
  // A tool may have been called only because one had to be.
  const talk = smallTalk(text, request.tools);
  if (talk !== undefined) return talk;
  if (results.length === 0 || isBeyond(text, request.tools)) return cannot(request.tools);
  const options = { hideIds: hidesIds(request.instructions) };
  const sources = sourcesOf(request);
  const told = results.map(({ call, result }, at) => {
    if (isPreparation(call, results.slice(at + 1))) return "";
    const found = result.status === "ok" ? sourcesIn(result, sources) : [];
    const asked = Object.values(call.input).filter((value) => typeof value === "string");
    const cited = citeSources(asked.join(" ") || text, found);
    return cited || tellUsed({ call, result }, results.slice(at + 1), options) || tellResult(result, options);
  });
  return told.filter((line) => line.trim() !== "").join("\n\n") || "The tools gave nothing back.";
}

/** The instructions may say that people are not shown ids. */
export const hidesIds = (instructions: string): boolean =>
  /\b(?:never|not|don't|no)\b[^.\n]*\bids?\b/iu.test(instructions);

type Told = { readonly call: CallPart; readonly result: ResultEntry };

/** A failure that was made good is not worth a word. */
function worthTelling(done: readonly Done[]): Told[] {
  return done.flatMap(({ call, result }, at) => {
    if (!result) return [];
    const isRetried =
      result.status === "error" &&
      done.slice(at + 1).some((later) => later.result?.status === "ok" && isSameAgain(call, later.call));
    return isRetried || isOpenHandoff(result) ? [] : [{ call, result }];
  });
}

/** By the same tool, or by another one for the same thing. */
const isSameAgain = (first: CallPart, second: CallPart): boolean =>
  first.name === second.name ||
  Object.entries(first.input).some(
    ([key, value]) => typeof value === "string" && second.input[key] === value,
  );

type Options = { readonly hideIds: boolean };

/** A thing that was looked up for a later step: what else is known of it, or nothing more than a space. */
function tellUsed({ call: own, result }: Told, later: readonly Told[], options: Options): string | undefined {
  // What was given the thing by its id did something with it, and is told.
  const items = itemsIn(dataOf(result)).filter((item) => usedOf([item], own.input).length === 0);
  const used = later.find(
    ({ call, result: next }) => next.status === "ok" && usedOf(items, call.input).length === 1,
  );
  const [item] = used ? usedOf(items, used.call.input) : [];
  if (!used || !item) return undefined;
  const said = plainText(used.result.content);
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
      Object.entries(input).every(([key, value]) => canonical(call.input[key] ?? null) === canonical(value)),
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
  const text = plainText(content).trim();
  switch (status) {
    case "error":
      return `That did not work. ${capitalised(sentence(withoutLead(error?.message ?? text)))}`;
    case "denied":
      return `That was not done. ${sentence(error?.message ?? text)}`;
    case "skipped":
      return `${capitalised(inWords(name))} was skipped. ${sentence(error?.message ?? text)}`;
    case "interrupted":
      return `${capitalised(inWords(name))} was interrupted: it may or may not have taken effect.`;
    case "ok":
      return tellData(result, text, options);
  }
}

const withoutLead = (message: string): string => message.replace(/^Tool execution failed: /u, "");

function tellData(result: ResultEntry, text: string, options: Options): string {
  const data = dataOf(result);
  if (data === undefined)
    return text === ""
      ? `${capitalised(inWords(result.name))} is done.`
      : asIs(shortened(withoutFence(text)));
  const whole = jsonIn(text);
  const message = messageIn(whole) ?? result.message ?? messageIn(data) ?? (whole ? "" : text);
  // A list tells itself: then the tool's own words are not the answer.
  const head = isSentence(message) && itemsIn(data).length < 2 ? sentence(message) : "";
  const told = describeData(data, { ...options, said: head });
  const answer = [head, told].filter((line) => line !== "").join("\n");
  return (answer || sentence(message) || `${capitalised(inWords(result.name))} is done.`) + offer(data);
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
