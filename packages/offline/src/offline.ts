// A model without a model: rules that read the tools, the examples and the history. It lets everything else be tried
// and tested without a key or a network, and never claims to be more than that.

import type { Chunk, Entry, Model, ModelRequest, Usage } from "capstan";
import { askFor, askWhich } from "./ask-back.ts";
import { fromDialect, inDialect } from "./dialect.ts";
import type { Call } from "./done-calls.ts";
import { formAnswer } from "./form-answer.ts";
import { askForRest } from "./half-said.ts";
import { planStep } from "./plan-step.ts";
import { smallTalk } from "./small-talk.ts";
import { sumUp } from "./sum-up.ts";
import { lastSaid } from "./understand.ts";
import { writeAnswer } from "./write-answer.ts";

export type OfflineOptions = {
  readonly id?: string;
};

/**
 * The offline model: rules, not AI. The same request always gives the same answer, and nothing in an answer is made up:
 * it calls the tool whose examples (`examples: [{ phrase, input }]` in the tool's JSON Schema) or words fit, and answers
 * from the results. What it cannot do, it says. It speaks the text dialect to whoever speaks it.
 */
export function offline(options: OfflineOptions = {}): Model {
  const { id = "offline/rules" } = options;
  return {
    id,
    async *stream(request, { signal }) {
      const told = fromDialect(request);
      const reply = replyTo(told ?? request);
      const chunks = told ? dialectChunks(reply) : chunksOf(reply, request.thinking);
      for (const chunk of chunks) {
        signal.throwIfAborted();
        yield [chunk];
      }
      yield [
        { type: "usage", usage: usageOf(request, reply) },
        { type: "finish", reason: reply.calls.length > 0 && !told ? "tool_calls" : "stop" },
      ];
    },
  };
}

type Reply = { readonly why: string; readonly text: string; readonly calls: readonly Call[] };

function replyTo(request: ModelRequest): Reply {
  const { history, tools, toolChoice } = request;
  const last = history.at(-1);
  const say = (why: string, text: string): Reply => ({
    why,
    text: request.output ? formAnswer(request, text) : text,
    calls: [],
  });
  const summary = sumUp(request);
  if (summary !== undefined) return say("A summary is asked for.", summary);
  const talk =
    last?.type === "user" && toolChoice !== "required" ? smallTalk(lastSaid(history).text, tools) : undefined;
  if (talk !== undefined) return say("This is small talk.", talk);
  const step = planStep(request);
  switch (step.type) {
    case "call":
      return { why: step.why, text: "", calls: step.calls };
    case "tell":
      return say("What was found before tells it.", step.text);
    case "ask":
      return say(
        `${step.tool.name} needs ${step.property.name}, and nothing tells it.`,
        askFor(step.tool, step.property, tools),
      );
    case "rest":
      return say("The request is like an example, and a part of it is missing.", askForRest(step.half));
    case "which":
      return say(
        "Several things fit, and only the person knows which.",
        askWhich(step.phrase, step.candidates),
      );
    case "answer":
      return say(
        last?.type === "result" ? "The results hold what there is to say." : "No tool fits the request.",
        writeAnswer(request),
      );
  }
}

function* chunksOf({ why, text, calls }: Reply, thinking: boolean): Generator<Chunk> {
  if (thinking) for (const piece of piecesOf(why)) yield { type: "reasoning", text: piece };
  for (const piece of piecesOf(text)) yield { type: "text", text: piece };
  for (const [index, { name, input }] of calls.entries()) {
    yield { type: "call_start", index, name };
    for (const piece of JSON.stringify(input).match(/[\s\S]{1,12}/gu) ?? [])
      yield { type: "call_delta", index, text: piece };
  }
}

function* dialectChunks({ why, text, calls }: Reply): Generator<Chunk> {
  for (const piece of piecesOf(inDialect(why, text, calls))) yield { type: "text", text: piece };
}

/** Word by word, as a model would say it. */
const piecesOf = (text: string): readonly string[] => text.match(/\s*\S{1,24}|\s+$/gu) ?? [];

const sizes = new WeakMap<Entry, number>();

/** Counted as a rule of thumb has it: four characters to a token. An entry is counted once. */
function usageOf({ instructions, history, tools }: ModelRequest, { why, text, calls }: Reply): Usage {
  const size = (said: unknown) => JSON.stringify(said).length;
  let input = size([instructions, tools]);
  for (const entry of history) {
    const known = sizes.get(entry) ?? size(entry.type === "result" ? entry.content : entry);
    sizes.set(entry, known);
    input += known;
  }
  return {
    inputTokens: Math.ceil(input / 4),
    outputTokens: Math.ceil(size([why, text, calls]) / 4),
    estimated: true,
  };
}
