import {
  type CallPart,
  type Entry,
  getCalls,
  type ModelRequest,
  type ResultEntry,
  toCanonicalJson,
  toPlainText,
} from "capstan";
import { computeDistance } from "../language/words.ts";
import type { Input } from "./fill-arguments.ts";
import { getLastUtterance } from "./parse-intents.ts";

/** A tool call to make. */
export type Call = { readonly name: string; readonly input: Input };

/** A call made since the last user message, with its result, if any. */
export type CallRecord = {
  readonly call: CallPart;
  readonly result?: ResultEntry;
  /** Calls of the same turn ran in parallel, so none of them saw the results of the others. */
  readonly turn: number;
};

export function getCallRecords(history: readonly Entry[]): CallRecord[] {
  const since = history.slice(getLastUtterance(history).index + 1);
  const results = new Map(since.flatMap((entry) => (entry.type === "result" ? [[entry.callId, entry]] : [])));
  return since
    .flatMap((entry, turn) =>
      entry.type === "assistant" ? getCalls(entry).map((call) => ({ call, turn })) : [],
    )
    .map(({ call, turn }) => {
      const result = results.get(call.id);
      return { call, turn, ...(result && { result }) };
    });
}

/** True if `later` retries `failed`: the arguments are the same except where the error message corrects them. */
export function isCorrection(failed: CallRecord, later: CallRecord): boolean {
  if (failed.result?.status !== "error" || later.turn <= failed.turn) return false;
  const message = failed.result.error?.message ?? toPlainText(failed.result.content);
  const { name, input } = failed.call;
  const isKept = Object.entries(input).some(
    ([key, value]) => typeof value === "string" && later.call.input[key] === value,
  );
  const changed = Object.entries(later.call.input).filter(
    ([key, value]) => toCanonicalJson(input[key] ?? null) !== toCanonicalJson(value),
  );
  const isTold = changed.every(
    ([key, value]) =>
      input[key] === undefined ||
      String(input[key]) === String(value) ||
      names(message, String(value)) ||
      computeDistance(getFileName(input[key]), getFileName(value)) <= 2,
  );
  return isKept || (later.call.name === name && isTold);
}

/** The last part of a path. */
const getFileName = (path: unknown): string => String(path).split("/").at(-1) ?? "";

/** True if the message contains a value, or its quoted part: "Boat" of `name == 'Boat'`. */
const names = (message: string, value: string): boolean =>
  message.includes(/^\w+ == '([^']+)'$/u.exec(value)?.[1] ?? value);

/** True if `calls` contains no call with the same name and input. */
export const isNewCall = (
  { name, input }: Call,
  calls: readonly Pick<CallPart, "name" | "input">[],
): boolean =>
  calls.every((call) => call.name !== name || toCanonicalJson(call.input) !== toCanonicalJson(input));

/** Utterances that only insist: "yes", "ok, do it anyway", "please try again". */
const insistencePattern =
  /^\s*(?:(?:ok(?:ay)?|all ?right|well|no|but|and|now|then|so|please|just)[\s,.!]+)*(?:yes|yeah|yep|sure|(?:yes[\s,.!]+)?(?:please[\s,]+)?(?:(?:just|now)\s+)?(?:do (?:it|that|so|this)|go (?:ahead|on)|try(?: (?:it|that))?(?: again| once more)|again|retry|proceed|once more|repeat (?:it|that)|i (?:agree|approve|allow it)))(?:[\s,.!]+(?:anyway|again|now|then|please|once more|after all|it|that))*[\s.!]*$/iu;

/** The calls that the user just denied and now insists on. They need approval again. */
export function findDeniedCalls({ history, tools }: Pick<ModelRequest, "history" | "tools">): Call[] {
  const { text, index } = getLastUtterance(history);
  if (index < 1 || !insistencePattern.test(text)) return [];
  const before = history.slice(0, index);
  const run = before.slice(getLastUtterance(before).index + 1);
  const denied = new Set(run.flatMap((entry) => (isDenied(entry) ? entry.callId : [])));
  return run
    .flatMap((entry) => (entry.type === "assistant" ? getCalls(entry) : []))
    .filter(({ id, name }) => denied.has(id) && tools.some((tool) => tool.name === name))
    .map(({ name, input }) => ({ name, input }));
}

const isDenied = (entry: Entry): entry is Extract<Entry, { type: "result" }> =>
  entry.type === "result" && entry.status === "denied";
