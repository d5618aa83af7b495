import type { ModelRequest } from "capstan";
import { answerFromList } from "../answers/answer-from-list.ts";
import { readAnswerStyle } from "../answers/answer-style.ts";
import { answerArithmetic } from "../answers/calculate.ts";
import {
  type Call,
  findDeniedCalls,
  getCallRecords,
  isCorrection,
  isNewCall,
} from "../dialog/call-records.ts";
import { createDialogContext, interpret } from "../dialog/follow-up.ts";
import { fillIntent, type Intent, rankIntents } from "../dialog/parse-intents.ts";
import { matchesSearch } from "../dialog/resolve-reference.ts";
import { hasPointer } from "../language/pointers.ts";
import { isRemoval } from "../language/removal.ts";
import { tokenize } from "../language/words.ts";
import { hasTemplateMatch } from "../matching/match-tool.ts";
import { findPartialExample } from "../matching/partial-example.ts";
import { handoffName } from "../matching/vocabulary.ts";
import { correctCall } from "./correct-call.ts";
import { findFile } from "./find-file.ts";
import { findText } from "./find-text.ts";
import { furtherSteps } from "./further-steps.ts";
import { isOpenHandoff, planHandoff } from "./handoff.ts";
import { planMissingArguments } from "./plan-missing.ts";
import { planFileRead } from "./read-first.ts";
import { createCallStep, type PlanContext, type Step } from "./step.ts";

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
    context: createDialogContext(history, interpretation.hints),
  };
  if (records.some(({ call, result }) => call.name === handoffName && result && !isOpenHandoff(result)))
    return { type: "answer" };
  const clarification =
    toolChoice === "auto" && records.length === 0 ? clarifyWithoutIntent(plan) : undefined;
  if (clarification) return clarification;
  const corrected = correctCall(plan);
  if (corrected)
    return createCallStep([corrected], `The error says how to correct the call of ${corrected.name}.`);
  const found = findMissingFile(plan);
  if (found) return found;
  const step = planHandoff(plan) ?? planIntents(listRemainingIntents(plan), plan);
  if (step.type !== "answer") return step;
  for (const rule of furtherSteps) {
    const further = rule(plan);
    if (further) return further;
  }
  // A call is required, so use any tool whose arguments can be filled.
  return (toolChoice === "required" ? planForcedCall(plan) : undefined) ?? step;
}

/** Looks for the file of a call that failed because its path does not exist. */
function findMissingFile(plan: PlanContext): Step | undefined {
  const { records } = plan;
  const failed = records.find(({ result }) => result?.status === "error");
  const file = failed && findFile(failed.call, plan);
  if (!file || "step" in file) return file?.step;
  const isNew = isNewCall(
    file.call,
    records.map(({ call }) => call),
  );
  return isNew ? createCallStep([file.call], "A file has a similar name.") : undefined;
}

/** Handles arithmetic, and a sentence that matches no example: a question about known results, or a partial example. */
function clarifyWithoutIntent({ request, interpretation, context }: PlanContext): Step | undefined {
  const result = answerArithmetic(interpretation.text, request.tools);
  if (result !== undefined) return { type: "tell", text: result };
  if (interpretation.intents.some(({ match }) => hasTemplateMatch(match))) return undefined;
  const { hideIds } = readAnswerStyle(request.instructions);
  const text = answerFromList(interpretation.text, context.results, hideIds);
  if (text !== undefined) return { type: "tell", text };
  const words = tokenize(interpretation.text);
  const partial = isRemoval(words) ? undefined : findPartialExample(words, request.tools);
  return partial === undefined ? undefined : { type: "rest", partial };
}

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
    const text = findText(filled, plan);
    if (text && "step" in text) return calls.length > 0 ? createCallStep(calls, why) : text.step;
    if (!text && (filled.open.length > 0 || filled.missing.length > 0)) {
      if (calls.length > 0) break;
      return planMissingArguments(wish, filled, plan);
    }
    const intended = { name: tool.name, input: text?.input ?? filled.input };
    const file = findFile(intended, plan);
    if (file && "step" in file) return calls.length > 0 ? createCallStep(calls, why) : file.step;
    const call = file?.call ?? intended;
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
