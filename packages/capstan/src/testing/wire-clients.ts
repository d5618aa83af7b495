import type { Json } from "../base/json.ts";
import type { Model } from "../kernel/model.ts";
import { anthropic } from "../models/anthropic.ts";
import { gemini } from "../models/gemini.ts";
import { openai } from "../models/openai.ts";
import { textDialect } from "../models/text-dialect.ts";
import {
  anthropicEncoder,
  type Encoder,
  geminiEncoder,
  openAiChatEncoder,
  openAiResponsesEncoder,
  type Speech,
} from "./wire-encoders.ts";

/** A model's answer in one turn, independent of the wire. */
export type WireStep = {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: Json }[];
};

/** Clients by name, each with a provider that plays the script once on its own wire. */
export function createWireClients(script: readonly WireStep[]): Readonly<Record<string, Model>> {
  const createOptions = (encoder: Encoder, say: (step: WireStep, turn: number) => Speech = toSpeech) => ({
    model: "m",
    apiKey: "key",
    fetch: createProvider(script.map((step, turn) => encoder.encode(say(step, turn)))),
  });
  return {
    "OpenAI chat": openai({ api: "chat", ...createOptions(openAiChatEncoder) }),
    "OpenAI responses": openai({ api: "responses", ...createOptions(openAiResponsesEncoder) }),
    Anthropic: anthropic(createOptions(anthropicEncoder)),
    Gemini: gemini(createOptions(geminiEncoder)),
    "text dialect": textDialect(openai({ api: "chat", ...createOptions(openAiChatEncoder, toTextSpeech) })),
  };
}

function toSpeech({ text, calls }: WireStep, turn: number): Speech {
  return {
    ...(text !== undefined && { text }),
    ...(calls && {
      calls: calls.map(({ name, input }, index) => ({
        id: `call_${turn}_${index}`,
        name,
        arguments: JSON.stringify(input),
      })),
    }),
  };
}

/** A model without native tools writes its calls as text. */
function toTextSpeech({ text = "", calls = [] }: WireStep): Speech {
  const called = calls.map(({ name, input }) => `TOOL_CALL: ${name}\nARGUMENTS: ${JSON.stringify(input)}`);
  return { text: [text, ...called].filter((line) => line !== "").join("\n") };
}

function createProvider(answers: readonly ReturnType<Encoder["encode"]>[]): typeof fetch {
  let turn = 0;
  return async () => {
    const answer = answers[turn++];
    if (!answer) throw new Error("The script has ended.");
    return new Response(answer.body + answer.end, { headers: { "content-type": "text/event-stream" } });
  };
}
