import { isRecord, type Json } from "capstan";
import { isNew } from "./done-calls.ts";
import { dataOf } from "./known-results.ts";
import { lookUp } from "./look-up.ts";
import type { Situation, Step } from "./plan-step.ts";
import { showFound } from "./show-found.ts";

type FurtherStep = (situation: Situation) => Step | undefined;

/** A result may say how to get the rest: `next` has the input for it. Whoever wants all of it, or a summary, gets it. */
const readOn: FurtherStep = ({ done, meaning }) => {
  if (!/\b(?:all|every|each|summar\w+|overview|recent)\b/iu.test(meaning.text)) return undefined;
  const last = done.at(-1);
  const data = last?.result && dataOf(last.result);
  const next = isRecord(data) ? data.next : undefined;
  if (!last || !isRecord(next)) return undefined;
  const call = { name: last.call.name, input: next as { readonly [key: string]: Json } };
  const calls = done.map((made) => made.call);
  if (calls.length >= mostPages || !isNew(call, calls)) return undefined;
  return { type: "call", calls: [call], why: `The result says that ${call.name} has more.` };
};

const mostPages = 4;

/** What may follow when everything that was asked for is done. */
export const furtherSteps: readonly FurtherStep[] = [readOn, showFound, lookUp];
