import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Json } from "../base/json.ts";
import {
  addChunk,
  buildParts,
  createMessageBuilder,
  type MessageBuilder,
} from "../kernel/calls/message-builder.ts";
import { parseArguments } from "../kernel/calls/parse-arguments.ts";
import type { ModelRequest } from "../kernel/model.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { createHttpModel } from "./http-model.ts";
import { createChatWire, openAiChat } from "./openai-chat.ts";
import { openAiResponses } from "./openai-responses.ts";
import type { Wire } from "./wire.ts";

const recordings = new URL("../../../../../shared/wire/", import.meta.url);
const isAbsent = !existsSync(new URL("expected-from-vendor-sdks.json", recordings));

const wires: Record<string, Wire> = {
  "openai-chat": openAiChat,
  "openai-compat": createChatWire({}),
  "openai-responses": openAiResponses,
  anthropic: anthropicMessages,
};

/** What the vendors' SDKs made of a stream, each in its own words. */
type Expected = {
  readonly content?: string | readonly Block[];
  readonly refusal?: string;
  readonly tool_calls?: readonly { id: string; name: string; arguments: string }[];
  readonly output?: readonly Block[];
  readonly text_from_deltas?: string;
};
type Block = {
  readonly type: string;
  readonly id: string;
  readonly call_id: string;
  readonly name: string;
  readonly text: string;
  readonly input: Json;
  readonly arguments: string;
};
type Listed = { readonly file: string; readonly interaction: number; readonly family: string };
type Recording = Listed & { readonly name: string; readonly expected: Expected; readonly body: Uint8Array };
type Session = { readonly interactions: readonly { readonly response: { readonly body: unknown } }[] };
type Said = { readonly text: string; readonly calls: readonly unknown[] };

const read = (file: string): unknown => JSON.parse(readFileSync(new URL(file, recordings), "utf8"));

const streams: readonly Recording[] = isAbsent
  ? []
  : (read("expected-from-vendor-sdks.json") as (Listed & { expected: Expected })[]).map((listed) => {
      const { interactions } = read(listed.file) as Session;
      const body = new TextEncoder().encode(String(interactions[listed.interaction]?.response.body));
      return { ...listed, body, name: `${listed.file} ${listed.interaction}` };
    });

const question: ModelRequest = {
  instructions: "",
  history: [{ type: "user", content: "?" }],
  tools: [],
  toolChoice: "auto",
  thinking: false,
};

/** The body in pieces whose sizes are asked for one by one. */
function pieces(body: Uint8Array, size: () => number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      const piece = body.subarray(at, at + size());
      at += piece.length;
      if (piece.length > 0) controller.enqueue(piece);
      if (at >= body.length) controller.close();
    },
  });
}

/** What the client makes of a body that comes like this. */
async function heard(family: string, body: ReadableStream<Uint8Array>): Promise<MessageBuilder> {
  const model = createHttpModel({
    id: family,
    wire: wires[family] as Wire,
    settings: { model: "recorded" },
    url: () => "https://recorded.test/",
    headers: () => ({}),
    fetch: async () => new Response(body, { headers: { "content-type": "text/event-stream" } }),
  });
  const message = createMessageBuilder((id, index) => id ?? `call_${index}`);
  const { signal } = new AbortController();
  for await (const batch of model.stream(question, { signal }))
    for (const chunk of batch) addChunk(message, chunk);
  return message;
}

const told = (message: MessageBuilder) => ({
  parts: buildParts(message),
  finish: message.stopReason,
  usage: message.usage,
});

function saidIn(message: MessageBuilder): Said {
  const parts = buildParts(message);
  return {
    text: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
    calls: parts
      .filter((part) => part.type === "call")
      .map(({ id, providerId, name, input, raw }) => call(providerId ?? id, name, raw ?? input)),
  };
}

const call = (id: string, name: string, input: unknown) => ({ id, name, input });

function callSaid(id: string, name: string, text: string) {
  const parsed = parseArguments(text);
  return call(id, name, parsed.ok ? parsed.input : text);
}

function expectedOf({ content, refusal = "", tool_calls = [], output, text_from_deltas }: Expected): Said {
  if (output)
    return {
      text: text_from_deltas ?? "",
      calls: output
        .filter(({ type }) => type === "function_call")
        .map((item) => callSaid(item.call_id, item.name, item.arguments)),
    };
  if (typeof content === "string")
    return {
      text: content + refusal,
      calls: tool_calls.map((item) => callSaid(item.id, item.name, item.arguments)),
    };
  const blocks = content ?? [];
  return {
    text: blocks.map(({ type, text }) => (type === "text" ? text : "")).join(""),
    calls: blocks
      .filter(({ type }) => type === "tool_use")
      .map((block) => call(block.id, block.name, block.input)),
  };
}

/** Numbers that are the same in every run of the test. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Where an event ends: after the empty line. */
function boundaries(body: Uint8Array): number[] {
  const text = new TextDecoder("latin1").decode(body);
  return [...text.matchAll(/\r?\n\r?\n/g)].map((end) => end.index + end[0].length);
}

/** The first byte of the event that says that the answer is over. */
function endOf(family: string, body: Uint8Array): number {
  const text = new TextDecoder("latin1").decode(body);
  // OpenAI's own stream is over with `[DONE]`; compatible servers may leave it out, so there the finish reason is the end.
  const marks: Record<string, RegExp> = {
    "openai-chat": /data: ?\[DONE\]/,
    "openai-compat": /"finish_reason": ?"/,
    "openai-responses": /data: ?\{"type": ?"response\.(?:completed|incomplete)"/,
    anthropic: /"type": ?"message_stop"/,
  };
  const at = text.search(marks[family] as RegExp);
  expect(at).toBeGreaterThan(0);
  return at;
}

describe.skipIf(isAbsent)("recorded streams through the HTTP client", () => {
  it("all recordings exist (S1-05)", () => {
    expect(streams).toHaveLength(318);
    expect(streams.every(({ family }) => family in wires)).toBe(true);
  });

  it.each(
    streams,
  )("$name: whole, byte by byte and in random pieces, the message is the one the vendor's SDK gives (S1-05) (S1-07)", async ({
    family,
    body,
    expected,
  }) => {
    const whole = await heard(
      family,
      pieces(body, () => body.length),
    );
    expect(saidIn(whole)).toEqual(expectedOf(expected));
    expect(whole.stopReason).toBeDefined();
    const size = body.length <= 20_000 ? 1 : 7;
    expect(
      told(
        await heard(
          family,
          pieces(body, () => size),
        ),
      ),
    ).toEqual(told(whole));
    const random = seeded(body.length);
    const some = pieces(body, () => 1 + Math.floor(random() ** 3 * 3000));
    expect(told(await heard(family, some))).toEqual(told(whole));
  });

  it.each(streams)("$name: cut between any two events before its end, it never has a finish (F15)", async ({
    family,
    body,
  }) => {
    const end = endOf(family, body);
    const cuts = boundaries(body).filter((at) => at <= end);
    expect(cuts.length).toBeGreaterThan(0);
    // A finish once said stays, so the longest piece without one speaks for all shorter ones. What the end of the
    // connection itself does is tried at up to twenty places, the last one always among them.
    const every = Math.ceil(cuts.length / 20);
    const tried = cuts.toReversed().filter((_, place) => place % every === 0);
    const finishes = await finishesAt(family, body, tried);
    expect(finishes.filter((finish) => finish !== undefined)).toEqual([]);
  });
});

/** What the finish of the message is for each cut. */
async function finishesAt(family: string, body: Uint8Array, cuts: readonly number[]) {
  const finishes: MessageBuilder["stopReason"][] = [];
  for (const cut of cuts) {
    const start = body.subarray(0, cut);
    const { stopReason: finish } = await heard(
      family,
      pieces(start, () => start.length),
    );
    finishes.push(finish);
  }
  return finishes;
}
