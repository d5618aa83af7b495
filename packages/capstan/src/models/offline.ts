// A model without a model: rules that read the tools, the examples and the history. It lets everything else be tried
// and tested without a key or a network, and never claims to be more than that.

import type { Chunk, Model, ModelRequest, Usage } from "../model.ts";
import type { Call } from "./offline/done-calls.ts";
import { planStep } from "./offline/plan-step.ts";
import { lastSaid } from "./offline/understand.ts";
import { askFor, formAnswer, smallTalk, writeAnswer } from "./offline/write-answer.ts";

export type OfflineOptions = {
  readonly id?: string;
};

/**
 * The offline model: rules, not AI. The same request always gives the same answer, and nothing in an answer is made up:
 * it calls the tool whose examples (`examples: [{ says, input }]` in the tool's JSON Schema) or words fit, and answers
 * from the results. What it cannot do, it says.
 */
export function offline(options: OfflineOptions = {}): Model {
  const { id = "offline/rules" } = options;
  return {
    id,
    async *stream(request, { signal }) {
      const reply = replyTo(request);
      for (const chunk of chunksOf(reply, request.thinking)) {
        signal.throwIfAborted();
        yield [chunk];
      }
      yield [
        { type: "usage", usage: usageOf(request, reply) },
        { type: "finish", reason: reply.calls.length > 0 ? "tool_calls" : "stop" },
      ];
    },
  };
}

type Reply = { readonly why: string; readonly text: string; readonly calls: readonly Call[] };

function replyTo(request: ModelRequest): Reply {
  const { history, tools, toolChoice } = request;
  const last = history.at(-1);
  const talk =
    last?.type === "user" && toolChoice !== "required" ? smallTalk(lastSaid(history).text, tools) : undefined;
  if (talk !== undefined) return { why: "This is small talk.", text: formed(talk, request), calls: [] };
  const step = planStep(request);
  switch (step.type) {
    case "call":
      return { why: step.why, text: "", calls: step.calls };
    case "ask":
      return {
        why: `${step.tool} needs ${step.property.name}, and nothing tells it.`,
        text: formed(askFor(step.tool, step.property), request),
        calls: [],
      };
    case "answer":
      return {
        why: last?.type === "result" ? "The results hold what there is to say." : "No tool fits the request.",
        text: formed(writeAnswer(request), request),
        calls: [],
      };
  }
}

const formed = (text: string, request: ModelRequest): string =>
  request.output ? formAnswer(request, text) : text;

function* chunksOf({ why, text, calls }: Reply, thinking: boolean): Generator<Chunk> {
  if (thinking) for (const piece of piecesOf(why)) yield { type: "reasoning", text: piece };
  for (const piece of piecesOf(text)) yield { type: "text", text: piece };
  for (const [index, { name, input }] of calls.entries()) {
    yield { type: "call_start", index, name };
    for (const piece of JSON.stringify(input).match(/[\s\S]{1,12}/gu) ?? [])
      yield { type: "call_delta", index, text: piece };
  }
}

/** Word by word, as a model would say it. */
const piecesOf = (text: string): readonly string[] => text.match(/\s*\S{1,24}|\s+$/gu) ?? [];

/** Counted as a rule of thumb has it: four characters to a token. */
function usageOf({ instructions, history, tools }: ModelRequest, { why, text, calls }: Reply): Usage {
  const tokens = (said: unknown) => Math.ceil(JSON.stringify(said).length / 4);
  return {
    inputTokens: tokens([instructions, history, tools]),
    outputTokens: tokens([why, text, calls]),
    estimated: true,
  };
}
