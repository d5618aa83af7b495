import type { ModelRequest, ToolSpec } from "capstan";
import { answerFromList } from "../answers/answer-from-list.ts";
import { readAnswerStyle } from "../answers/answer-style.ts";
import {
  type Call,
  type CallRecord,
  findDeniedCalls,
  getCallRecords,
  isCorrection,
  isNewCall,
} from "../dialog/call-records.ts";
import type { Item } from "../dialog/collect-results.ts";
import type { FillResult, OpenReference } from "../dialog/fill-arguments.ts";
import { createContext, type Interpretation, interpret } from "../dialog/follow-up.ts";
import { fillIntent, type Intent, rankIntents } from "../dialog/parse-intents.ts";
import { type DialogContext, matchesSearch } from "../dialog/resolve-reference.ts";
import { hasPointer, isPointerPhrase } from "../language/pointers.ts";
import { isFiller } from "../language/synonyms.ts";
import { joinWords, tokenize, toNameStems } from "../language/words.ts";
import { hasTemplateMatch } from "../matching/match-tool.ts";
import { findPartialExample } from "../matching/partial-example.ts";
import type { Property } from "../matching/properties.ts";
import { handoffName } from "../matching/vocabulary.ts";
import { correctCall } from "./correct-call.ts";
import { createSearchCall } from "./find-search.ts";
import { furtherSteps } from "./further-steps.ts";
import { isOpenHandoff, planHandoff } from "./handoff.ts";
import { planFileRead } from "./read-first.ts";

/** The next step: call tools, ask a question, or answer from the results. */
export type Step =
  | { readonly type: "call"; readonly calls: readonly Call[]; readonly why: string }
  | { readonly type: "ask"; readonly tool: ToolSpec; readonly property: Property }
  | { readonly type: "rest"; readonly partial: string }
  | { readonly type: "tell"; readonly text: string }
  | { readonly type: "which"; readonly phrase: string; readonly candidates: readonly Item[] }
  | { readonly type: "answer" };

export type PlanContext = {
  readonly request: ModelRequest;
  readonly records: readonly CallRecord[];
  readonly interpretation: Interpretation;
  readonly context: DialogContext;
};

export function planStep(request: ModelRequest): Step {
  const { history, tools, toolChoice } = request;
  if (toolChoice === "none" || tools.length === 0) return { type: "answer" };
  const records = getCallRecords(history);
  const denied = findDeniedCalls(request);
  if (denied.length > 0)
    return records.length === 0
      ? createCallStep(denied, "The user denied this call before and now insists on it.")
      : { type: "answer" };
  const interpretation = interpret(request);
  const plan = {
    request,
    records,
    interpretation,
    context: createContext(history, interpretation.hints),
  };
  if (records.some(({ call, result }) => call.name === handoffName && result && !isOpenHandoff(result)))
    return { type: "answer" };
  const clarification =
    toolChoice === "auto" && records.length === 0 ? clarifyWithoutIntent(plan) : undefined;
  if (clarification) return clarification;
  const corrected = correctCall(plan);
  if (corrected)
    return createCallStep([corrected], `The error says how to correct the call of ${corrected.name}.`);
  const step = planHandoff(plan) ?? planIntents(listRemainingIntents(plan), plan);
  if (step.type !== "answer") return step;
  for (const rule of furtherSteps) {
    const further = rule(plan);
    if (further) return further;
  }
  // A call is required, so use any tool whose arguments can be filled.
  return (toolChoice === "required" ? planForcedCall(plan) : undefined) ?? step;
}

/** Handles a sentence that matches no example: a question about known results, or a partial example. */
function clarifyWithoutIntent({ request, interpretation, context }: PlanContext): Step | undefined {
  if (interpretation.intents.some(({ match }) => hasTemplateMatch(match))) return undefined;
  const { hideIds } = readAnswerStyle(request.instructions);
  const text = answerFromList(interpretation.text, context.results, hideIds);
  if (text !== undefined) return { type: "tell", text };
  const partial = findPartialExample(tokenize(interpretation.text), request.tools);
  return partial === undefined ? undefined : { type: "rest", partial };
}

const createCallStep = (calls: readonly Call[], why: string): Step => ({ type: "call", calls, why });

/** The intents without a call. A failed call and its retry count once. */
function listRemainingIntents({ interpretation: { intents }, records, context }: PlanContext): Intent[] {
  const phrases = intents.flatMap((wish) => fillIntent(wish, context).phrases);
  const counts = new Map<string, number>();
  for (const made of records) {
    const { call } = made;
    const isRetried = records.some((later) => isCorrection(made, later));
    // A lookup on behalf of an intent does not fulfill it.
    const isLookup = phrases.some((phrase) => matchesSearch(phrase, call.input));
    if (!isRetried && !isLookup) counts.set(call.name, (counts.get(call.name) ?? 0) + 1);
  }
  return intents.filter(({ match: { tool } }) => {
    const count = counts.get(tool.name) ?? 0;
    counts.set(tool.name, count - 1);
    return count <= 0;
  });
}

function planIntents(intents: readonly Intent[], plan: PlanContext): Step {
  const { context, records } = plan;
  const calls: Call[] = [];
  let why = "";
  for (const wish of intents) {
    const { tool, example } = wish.match;
    // "Make them blue" has to wait for the results of "find all boats".
    if (calls.length > 0 && hasPointer(wish.words)) break;
    const filled = fillIntent(wish, context);
    if (filled.open.length > 0 || filled.missing.length > 0) {
      if (calls.length > 0) break;
      return planMissingArguments(wish, filled, plan);
    }
    const call = { name: tool.name, input: filled.input };
    const readStep = planFileRead(call, plan);
    if (readStep) return calls.length > 0 ? createCallStep(calls, why) : readStep;
    if (!isNewCall(call, [...records.map((made) => made.call), ...calls])) continue;
    calls.push(call);
    why ||= example?.matchedWeight
      ? `The request matches the example "${example.phrase}" of ${tool.name}.`
      : `The words of the request match ${tool.name} best.`;
  }
  return calls.length > 0 ? createCallStep(calls, why) : { type: "answer" };
}

/** Looks up or asks for the arguments that an intent still needs. */
function planMissingArguments(intent: Intent, { open, missing }: FillResult, plan: PlanContext): Step {
  const { request, records, context } = plan;
  const { tool } = intent.match;
  const made = records.map(({ call }) => call);
  const unclear = open.find(({ resolution }) => resolution.type === "unclear");
  if (unclear?.resolution.type === "unclear")
    return { type: "which", phrase: unclear.phrase, candidates: unclear.resolution.candidates };
  const [property] = missing;
  const sought = [
    ...open.filter(isUnknown).map(({ property: wanted, phrase }) => ({ property: wanted, phrase, tool })),
    ...(property?.isReference ? [{ property, phrase: extractSearchPhrase(intent), tool }] : []),
  ];
  const calls = sought
    .filter(({ phrase }) => phrase !== "" && !isPointerPhrase(tokenize(phrase)) && !isUniversal(phrase))
    .flatMap((one) => createSearchCall(one, request.tools, context) ?? [])
    .filter((call) => isNewCall(call, made));
  const needed = sought[0]?.property ?? property;
  if (calls.length > 0)
    return createCallStep(calls, `${tool.name} needs ${needed?.name}, which is looked up first.`);
  // The results so far are more useful than a question.
  if (!needed || (records.length > 0 && needed.minItems < 2)) return { type: "answer" };
  return { type: "ask", tool, property: needed };
}

/** True for words such as "everything", which cannot be searched for. */
const isUniversal = (phrase: string): boolean =>
  tokenize(phrase).every((word) => isFiller(word) || /^(?:every|any)(?:thing|one)$|^stuff$/u.test(word.stem));

const isUnknown = ({ resolution }: OpenReference): boolean => resolution.type === "unknown";

/** The utterance without the tool's own words: "Blue Door" in "show the Blue Door on the map". */
function extractSearchPhrase({ words, match: { tool } }: Intent): string {
  if (hasPointer(words)) return "";
  const own = new Set(toNameStems(tool.name));
  const about = new Set(tokenize(tool.description).map(({ stem }) => stem));
  const rest = words.filter(({ raw, stem }) => !own.has(stem) && (/^\p{Lu}/u.test(raw) || !about.has(stem)));
  const first = rest.findIndex((word) => !isFiller(word));
  return first < 0 ? "" : joinWords(rest.slice(first));
}

function planForcedCall({ request, records, context }: PlanContext): Step | undefined {
  const made = records.map(({ call }) => call);
  for (const wish of rankIntents(request)) {
    const { input, missing, open } = fillIntent(wish, context);
    const call = { name: wish.match.tool.name, input };
    if (missing.length + open.length === 0 && isNewCall(call, made))
      return createCallStep([call], `A tool call is required, and ${call.name} can be called.`);
  }
  return undefined;
}
