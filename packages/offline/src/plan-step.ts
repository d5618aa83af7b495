import type { ModelRequest, ToolSpec } from "capstan";
import { deniedBefore } from "./again.ts";
import { askOfList } from "./ask-of-list.ts";
import { correctCall } from "./correct-call.ts";
import { type Call, type Done, doneSince, isCorrection, isNew } from "./done-calls.ts";
import type { Filled, OpenReference } from "./fill-arguments.ts";
import { type Meaning, meaningOf, sceneOf } from "./follow-up.ts";
import { furtherSteps } from "./further-steps.ts";
import { halfSaid } from "./half-said.ts";
import { handOver, isOpenHandoff } from "./hand-over.ts";
import type { Item } from "./known-results.ts";
import { isSure } from "./match-tool.ts";
import { isFiller } from "./meanings.ts";
import type { Property } from "./properties.ts";
import { readFirst } from "./read-first.ts";
import { onlyRefersBack, refersBack } from "./refer-back.ts";
import { isSearchFor, type Scene } from "./resolve-reference.ts";
import { searchFor } from "./search-for.ts";
import { anyWish, fill, type Wish } from "./understand.ts";
import { handoffName } from "./vocabulary.ts";
import { joined, nameWords, wordsOf } from "./words.ts";
import { hidesIds } from "./write-answer.ts";

/** What to do next: call tools, ask for an argument or which of several is meant, or answer from what there is. */
export type Step =
  | { readonly type: "call"; readonly calls: readonly Call[]; readonly why: string }
  | { readonly type: "ask"; readonly tool: ToolSpec; readonly property: Property }
  | { readonly type: "rest"; readonly half: string }
  | { readonly type: "tell"; readonly text: string }
  | { readonly type: "which"; readonly phrase: string; readonly candidates: readonly Item[] }
  | { readonly type: "answer" };

/** All that a step is planned from. */
export type Situation = {
  readonly request: ModelRequest;
  readonly done: readonly Done[];
  readonly meaning: Meaning;
  readonly scene: Scene;
};

export function planStep(request: ModelRequest): Step {
  const { history, tools, toolChoice } = request;
  if (toolChoice === "none" || tools.length === 0) return { type: "answer" };
  const done = doneSince(history);
  const denied = deniedBefore(request);
  if (denied.length > 0)
    return done.length === 0
      ? called(denied, "It was denied before, and is wanted after all.")
      : { type: "answer" };
  const meaning = meaningOf(request);
  const situation = { request, done, meaning, scene: sceneOf(history, meaning.hints) };
  if (done.some(({ call, result }) => call.name === handoffName && result && !isOpenHandoff(result)))
    return { type: "answer" };
  const unclear = toolChoice === "auto" && done.length === 0 ? stepWithoutWish(situation) : undefined;
  if (unclear) return unclear;
  const corrected = correctCall(situation);
  if (corrected) return called([corrected], `The error tells how to correct the call of ${corrected.name}.`);
  const step = handOver(situation) ?? stepFor(leftOf(situation), situation);
  if (step.type !== "answer") return step;
  for (const rule of furtherSteps) {
    const further = rule(situation);
    if (further) return further;
  }
  // It must call: any tool will do that it can fill.
  return (toolChoice === "required" ? stepForced(situation) : undefined) ?? step;
}

/** A sentence that is like no example may ask of what is known already, or say only a part of one. */
function stepWithoutWish({ request, meaning, scene }: Situation): Step | undefined {
  if (meaning.wishes.some(({ match }) => isSure(match))) return undefined;
  const text = askOfList(meaning.text, scene.results, hidesIds(request.instructions));
  if (text !== undefined) return { type: "tell", text };
  const half = halfSaid(wordsOf(meaning.text), request.tools);
  return half === undefined ? undefined : { type: "rest", half };
}

const called = (calls: readonly Call[], why: string): Step => ({ type: "call", calls, why });

/** The wishes that no call has been made for. A call that failed and was made again counts once. */
function leftOf({ meaning: { wishes }, done, scene }: Situation): Wish[] {
  const phrases = wishes.flatMap((wish) => fill(wish, scene).phrases);
  const counts = new Map<string, number>();
  for (const made of done) {
    const { call } = made;
    const isRetried = done.some((later) => isCorrection(made, later));
    // What was looked up for the sake of a wish is not the wish itself.
    const isLookup = phrases.some((phrase) => isSearchFor(phrase, call.input));
    if (!isRetried && !isLookup) counts.set(call.name, (counts.get(call.name) ?? 0) + 1);
  }
  return wishes.filter(({ match: { tool } }) => {
    const count = counts.get(tool.name) ?? 0;
    counts.set(tool.name, count - 1);
    return count <= 0;
  });
}

function stepFor(wishes: readonly Wish[], situation: Situation): Step {
  const { scene, done } = situation;
  const calls: Call[] = [];
  let why = "";
  for (const wish of wishes) {
    const { tool, example } = wish.match;
    // "Make them blue" waits for what "find all boats" finds.
    if (calls.length > 0 && refersBack(wish.words)) break;
    const filled = fill(wish, scene);
    if (filled.open.length > 0 || filled.missing.length > 0) {
      if (calls.length > 0) break;
      return stepTowards(wish, filled, situation);
    }
    const call = { name: tool.name, input: filled.input };
    const reading = readFirst(call, situation);
    if (reading) return calls.length > 0 ? called(calls, why) : reading;
    if (!isNew(call, [...done.map((made) => made.call), ...calls])) continue;
    calls.push(call);
    why ||= example?.said
      ? `The request is like the example "${example.phrase}" of ${tool.name}.`
      : `The words of the request fit ${tool.name} best.`;
  }
  return calls.length > 0 ? called(calls, why) : { type: "answer" };
}

/** What has to be known before a wish can be fulfilled: it is looked up, or asked for. */
function stepTowards(wish: Wish, { open, missing }: Filled, situation: Situation): Step {
  const { request, done, scene } = situation;
  const { tool } = wish.match;
  const made = done.map(({ call }) => call);
  const unclear = open.find(({ resolution }) => resolution.type === "unclear");
  if (unclear?.resolution.type === "unclear")
    return { type: "which", phrase: unclear.phrase, candidates: unclear.resolution.candidates };
  const [property] = missing;
  const sought = [
    ...open.filter(isUnknown).map(({ property: wanted, phrase }) => ({ property: wanted, phrase, tool })),
    ...(property?.isReference ? [{ property, phrase: restOf(wish), tool }] : []),
  ];
  const calls = sought
    .filter(({ phrase }) => phrase !== "" && !onlyRefersBack(wordsOf(phrase)) && !isEverything(phrase))
    .flatMap((one) => searchFor(one, request.tools, scene) ?? [])
    .filter((call) => isNew(call, made));
  const needed = sought[0]?.property ?? property;
  if (calls.length > 0) return called(calls, `${tool.name} needs ${needed?.name}: it is looked up first.`);
  // What the earlier steps gave says more than a question would.
  if (!needed || (done.length > 0 && needed.least < 2)) return { type: "answer" };
  return { type: "ask", tool, property: needed };
}

/** Nothing can be looked up by a word for all there is. */
const isEverything = (phrase: string): boolean =>
  wordsOf(phrase).every((word) => isFiller(word) || /^(?:every|any)(?:thing|one)$|^stuff$/u.test(word.stem));

const isUnknown = ({ resolution }: OpenReference): boolean => resolution.type === "unknown";

/** "Show the Blue Door on the map": what is left without the tool's own words is what to look for. */
function restOf({ words, match: { tool } }: Wish): string {
  if (refersBack(words)) return "";
  const own = new Set(nameWords(tool.name));
  const about = new Set(wordsOf(tool.description).map(({ stem }) => stem));
  const rest = words.filter(({ raw, stem }) => !own.has(stem) && (/^\p{Lu}/u.test(raw) || !about.has(stem)));
  const first = rest.findIndex((word) => !isFiller(word));
  return first < 0 ? "" : joined(rest.slice(first));
}

function stepForced({ request, done, scene }: Situation): Step | undefined {
  const made = done.map(({ call }) => call);
  for (const wish of anyWish(request)) {
    const { input, missing, open } = fill(wish, scene);
    const call = { name: wish.match.tool.name, input };
    if (missing.length + open.length === 0 && isNew(call, made))
      return called([call], `A tool must be called, and ${call.name} can be.`);
  }
  return undefined;
}
