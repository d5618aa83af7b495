import { type Entry, getCalls, type ModelRequest } from "capstan";
import type { Call } from "./done-calls.ts";
import { lastSaid } from "./understand.ts";

/** "Yes", "ok, do it anyway", "please try again": nothing but that it be done after all. */
const insists =
  /^\s*(?:(?:ok(?:ay)?|all ?right|well|no|but|and|now|then|so|please|just)[\s,.!]+)*(?:yes|yeah|yep|sure|(?:yes[\s,.!]+)?(?:please[\s,]+)?(?:(?:just|now)\s+)?(?:do (?:it|that|so|this)|go (?:ahead|on)|try(?: (?:it|that))?(?: again| once more)|again|retry|proceed|once more|repeat (?:it|that)|i (?:agree|approve|allow it)))(?:[\s,.!]+(?:anyway|again|now|then|please|once more|after all|it|that))*[\s.!]*$/iu;

/** The calls that a person denied a moment ago and now wants after all: exactly those, which are asked about again. */
export function deniedBefore({ history, tools }: Pick<ModelRequest, "history" | "tools">): Call[] {
  const { text, at } = lastSaid(history);
  if (at < 1 || !insists.test(text)) return [];
  const before = history.slice(0, at);
  const run = before.slice(lastSaid(before).at + 1);
  const denied = new Set(run.flatMap((entry) => (isDenied(entry) ? entry.callId : [])));
  return run
    .flatMap((entry) => (entry.type === "assistant" ? getCalls(entry) : []))
    .filter(({ id, name }) => denied.has(id) && tools.some((tool) => tool.name === name))
    .map(({ name, input }) => ({ name, input }));
}

const isDenied = (entry: Entry): entry is Extract<Entry, { type: "result" }> =>
  entry.type === "result" && entry.status === "denied";
