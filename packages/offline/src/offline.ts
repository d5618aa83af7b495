// A rule-based dialog system with the interface of a model. It parses the user's intents from the tools' examples and
// words, fills their slots, resolves references to earlier results, and answers from the results.

import {
  type Chunk,
  type Entry,
  isRecord,
  type Json,
  type Model,
  type ModelRequest,
  type Usage,
} from "capstan";
import { replyAboutAnswer } from "./answers/about-answer.ts";
import { splitSourceLists } from "./answers/cite-sources.ts";
import { formatArgumentQuestion, formatChoiceQuestion } from "./answers/clarify.ts";
import { answerSmallTalk } from "./answers/small-talk.ts";
import { summarize } from "./answers/summarize.ts";
import { writeAnswer } from "./answers/write-answer.ts";
import { formatDialectReply, parseDialectRequest } from "./dialect.ts";
import { findBackgroundAnswer, withoutBackground } from "./dialog/background-messages.ts";
import { type Call, getCallRecords } from "./dialog/call-records.ts";
import { getData } from "./dialog/collect-results.ts";
import { getLastUtterance } from "./dialog/parse-intents.ts";
import { findScheduledMessage, withoutSchedulePrefix } from "./dialog/scheduled-message.ts";
import { formatCompletionQuestion } from "./matching/partial-example.ts";
import { getProperties } from "./matching/properties.ts";
import { withPhrases } from "./matching/with-phrases.ts";
import { planStep } from "./planning/plan-step.ts";
import { describeLoadedSkill, planSkill, withoutSkills } from "./planning/skills.ts";
import { planSearch, withoutSearch } from "./planning/tool-search.ts";

export type OfflineOptions = {
  readonly id?: string;
};

/**
 * The offline model: rules, not AI. Calls the tool whose examples (`examples: [{ phrase, input }]`) or words match the
 * request, and answers from the results. The same request always gives the same answer, and answers contain nothing that
 * is not in the results. Requests in the text dialect are answered in the text dialect.
 */
export function offline(options: OfflineOptions = {}): Model {
  const { id = "offline/rules" } = options;
  return {
    id,
    async *stream(request, { signal }) {
      const dialectRequest = parseDialectRequest(request);
      const reply = createReply(selectNamedTool(unquoteDescriptions(withPhrases(dialectRequest ?? request))));
      const chunks = dialectRequest ? toDialectChunks(reply) : toChunks(reply, request.thinking);
      for (const chunk of chunks) {
        signal.throwIfAborted();
        yield [chunk];
      }
      yield [
        { type: "usage", usage: estimateUsage(request, reply) },
        { type: "finish", reason: reply.calls.length > 0 && !dialectRequest ? "tool_calls" : "end" },
      ];
    },
  };
}

/** Replaces the choice of one tool by "required" with that tool alone. */
function selectNamedTool(request: ModelRequest): ModelRequest {
  const { toolChoice, tools } = request;
  if (typeof toolChoice === "string") return request;
  return { ...request, toolChoice: "required", tools: tools.filter(({ name }) => name === toolChoice.tool) };
}

const quoteHeader = /^From .+ \(its words, .+:\n(?=> )/;

/** Removes the quotation from unapproved descriptions: the rules match words, regardless of their author. */
function unquoteDescriptions(request: ModelRequest): ModelRequest {
  if (!request.tools.some(({ description }) => quoteHeader.test(description))) return request;
  const tools = request.tools.map((tool) =>
    quoteHeader.test(tool.description)
      ? { ...tool, description: tool.description.replace(quoteHeader, "").replaceAll(/^> /gm, "") }
      : tool,
  );
  return { ...request, tools };
}

type Reply = { readonly reason: string; readonly text: string; readonly calls: readonly Call[] };

function createReply(received: ModelRequest): Reply {
  const scheduled = findScheduledMessage(received.history);
  const messages = splitSourceLists(withoutSchedulePrefix(withoutBackground(received.history)));
  const request = withoutSkills(withoutSearch({ ...received, history: messages }));
  const { history, tools, toolChoice } = request;
  const last = history.at(-1);
  const say = (reason: string, text: string): Reply => ({
    reason,
    text: request.output ? buildStructuredAnswer(request, text) : text,
    calls: [],
  });
  const background = findBackgroundAnswer(received.history);
  if (background !== undefined) return say("Background work has ended.", background);
  const summary = summarize(request);
  if (summary !== undefined) return say("The instructions ask for a summary.", summary);
  if (last?.type === "user" && toolChoice !== "required" && scheduled === undefined) {
    const talk = answerSmallTalk(getLastUtterance(history).text, tools);
    if (talk !== undefined) return say("This is small talk.", talk);
    const remark = replyAboutAnswer(history);
    if (remark !== undefined) return say("This is about the last answer.", remark);
  }
  const skill = planSkill(received);
  if (skill) return { reason: "A skill fits the request.", text: "", calls: [skill] };
  const step = planStep(request);
  if (scheduled !== undefined && step.type !== "call")
    return say("A scheduled message has arrived.", `Reminder: ${scheduled}`);
  // The skill says more than a question about a call that the rules only guess at.
  const loaded = step.type === "call" ? undefined : describeLoadedSkill(received);
  if (loaded !== undefined) return say("A skill was loaded.", loaded);
  switch (step.type) {
    case "call":
      return { reason: step.why, text: "", calls: step.calls };
    case "tell":
      return say("Earlier results contain the answer.", step.text);
    case "ask":
      return say(
        `${step.tool.name} needs ${step.property.name}, which is not given.`,
        formatArgumentQuestion(step.tool, step.property, tools),
      );
    case "rest":
      return say(
        "The request matches an example, but a part is missing.",
        formatCompletionQuestion(step.partial),
      );
    case "which":
      return say("Several items match the request.", formatChoiceQuestion(step.phrase, step.candidates));
    case "answer": {
      const search = planSearch(received);
      if (search) return { reason: "No tool that I see matches the request.", text: "", calls: [search] };
      return say(
        last?.type === "result" ? "The results contain the answer." : "No tool matches the request.",
        writeAnswer(request),
      );
    }
  }
}

/** Builds an answer for the requested output schema from values in the results. Text properties get the answer text. */
function buildStructuredAnswer({ output = {}, history }: ModelRequest, text: string): string {
  const known = getCallRecords(history).flatMap(({ result }) => (result ? [getData(result)] : []));
  const found: Record<string, Json> = {};
  for (const { name, type, choices } of getProperties({ input: output })) {
    const holder = known.findLast((data) => isRecord(data) && Object.hasOwn(data, name));
    if (isRecord(holder)) found[name] = holder[name] as Json;
    else if (type === "string" && choices.length === 0) found[name] = text;
    else if (type === "array") found[name] = [];
  }
  return JSON.stringify(found);
}

function* toChunks({ reason, text, calls }: Reply, thinking: boolean): Generator<Chunk> {
  if (thinking) for (const piece of splitIntoDeltas(reason)) yield { type: "reasoning", text: piece };
  for (const piece of splitIntoDeltas(text)) yield { type: "text", text: piece };
  for (const [index, { name, input }] of calls.entries()) {
    yield { type: "call_start", index, name };
    for (const piece of JSON.stringify(input).match(/[\s\S]{1,12}/gu) ?? [])
      yield { type: "call_delta", index, text: piece };
  }
}

function* toDialectChunks({ reason, text, calls }: Reply): Generator<Chunk> {
  for (const piece of splitIntoDeltas(formatDialectReply(reason, text, calls)))
    yield { type: "text", text: piece };
}

/** Splits text into words, as a model would stream it. */
const splitIntoDeltas = (text: string): readonly string[] => text.match(/\s*\S{1,24}|\s+$/gu) ?? [];

const entrySizes = new WeakMap<Entry, number>();

/** Estimates usage at four characters per token. The size of each entry is computed once. */
function estimateUsage(
  { instructions, history, tools }: ModelRequest,
  { reason, text, calls }: Reply,
): Usage {
  const size = (said: unknown) => JSON.stringify(said).length;
  let input = size([instructions, tools]);
  for (const entry of history) {
    const known = entrySizes.get(entry) ?? size(entry.type === "result" ? entry.content : entry);
    entrySizes.set(entry, known);
    input += known;
  }
  return {
    inputTokens: Math.ceil(input / 4),
    outputTokens: Math.ceil(size([reason, text, calls]) / 4),
    estimated: true,
  };
}
