import { existsSync, readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../base/json.ts";
import {
  addChunk,
  buildParts,
  createMessageBuilder,
  type MessageBuilder,
} from "../kernel/calls/message-builder.ts";
import type { AssistantEntry, AssistantPart, CallPart, Entry } from "../kernel/history.ts";
import type { Chunk, ModelRequest, ToolSpec, Usage } from "../kernel/model.ts";
import type { JsonSchema } from "../schema/schema.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { tagData, type WireEvent, type WireSettings } from "./wire.ts";

const recordings = new URL("../../../../../shared/wire/", import.meta.url);
const absent = !existsSync(new URL("index.json", recordings));

type Block = { readonly type: string; readonly [field: string]: Json };
type Body = {
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[];
  readonly [field: string]: unknown;
};
type Message = {
  readonly content: readonly Block[];
  readonly stop_reason: string;
  readonly usage: { readonly [figure: string]: number | null | undefined };
  readonly container?: Json;
};

const settings: WireSettings = { model: "claude-sonnet-4-5", stream: true };

function requestOf(history: readonly Entry[], rest: Partial<ModelRequest> = {}): ModelRequest {
  return { instructions: "", history, tools: [], toolChoice: "auto", thinking: false, ...rest };
}

function bodyOf(request: ModelRequest, more: Partial<WireSettings> = {}): Body {
  return JSON.parse(anthropicMessages.toRequest(request, { ...settings, ...more })) as Body;
}

function assembled(chunks: Iterable<Chunk>): MessageBuilder {
  const message = createMessageBuilder((id, index) => id ?? `call_${index}`);
  for (const chunk of chunks) addChunk(message, chunk);
  return message;
}

function chunksOf(events: readonly WireEvent[]): Chunk[] {
  const reader = anthropicMessages.reader();
  return events.flatMap((event) => reader.read(event));
}

function eventOf(data: { readonly type: string; readonly [field: string]: Json }): WireEvent {
  return { event: data.type, data: JSON.stringify(data) };
}

/** The events of a stream that says these blocks, as the API does. */
function saying(blocks: readonly Block[], stop: string | null = "end_turn"): WireEvent[] {
  const usage = { input_tokens: 3, output_tokens: 1 };
  return [
    { type: "message_start", message: { role: "assistant", content: [], usage } },
    ...blocks.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: stop }, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ].map((data) => eventOf(data as never));
}

/** What a request says the assistant said, without what was added around it. */
function saidBack(parts: readonly AssistantPart[]): readonly Block[] {
  const entry: AssistantEntry = { type: "assistant", parts };
  const { messages } = bodyOf(
    requestOf([{ type: "user", content: "?" }, entry, { type: "user", content: "!" }]),
  );
  expect(messages.map(({ role }) => role)).toEqual(
    messages.length === 3 ? ["user", "assistant", "user"] : ["user"],
  );
  return messages.length === 3 ? (messages[1]?.content ?? []) : [];
}

function unmarked(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, member: unknown) => (key === "cache_control" ? undefined : member)),
  );
}

function usageIn(usage: Message["usage"]): Usage {
  const cached = usage.cache_read_input_tokens;
  const written = usage.cache_creation_input_tokens ?? 0;
  return {
    inputTokens: (usage.input_tokens ?? 0) + (cached ?? 0) + written,
    outputTokens: usage.output_tokens ?? 0,
    ...(typeof cached === "number" && { cachedTokens: cached }),
    ...(written > 0 && { cacheWriteTokens: written }),
  };
}

const finishes: Record<string, string> = {
  end_turn: "end",
  tool_use: "tool_calls",
  refusal: "refusal",
};

/** An answer, checked against what the provider's own client, or the body itself, says it is. */
function expectAnswer(message: MessageBuilder, expected: Message): void {
  const parts = buildParts(message);
  const textIn = (type: "text" | "thinking") =>
    expected.content.map((block) => (block.type === type ? String(block[type]) : "")).join("");
  const textOf = (type: "text" | "reasoning") =>
    parts.map((part) => (part.type === type ? part.text : "")).join("");
  expect(textOf("text")).toBe(textIn("text"));
  expect(textOf("reasoning")).toBe(textIn("thinking"));
  expect(
    parts.filter((part) => part.type === "call").map(({ id, name, input }) => ({ id, name, input })),
  ).toEqual(
    expected.content
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, input }) => ({ id, name, input })),
  );
  expect(message.stopReason).toBe(finishes[expected.stop_reason]);
  const { reasoningTokens: _reasoning, ...usage } = message.usage ?? { inputTokens: -1, outputTokens: -1 };
  expect(usage).toEqual(usageIn(expected.usage));
  // And it goes back block by block as it came.
  expect(saidBack(parts)).toEqual(sendable(expected.content));
}

/** Blank texts are refused by the API, and citations that are none say nothing. */
function sendable(content: readonly Block[]): readonly unknown[] {
  return content
    .filter((block) => block.type !== "text" || String(block.text).trim() !== "")
    .map(({ citations, ...block }) =>
      Array.isArray(citations) && citations.length > 0 ? { ...block, citations } : block,
    );
}

type Exchange = {
  readonly family: string;
  readonly request: { readonly body: { readonly [field: string]: Json } };
  readonly response: { readonly form: string; readonly status: number; readonly body: unknown };
};

function readJson<Value>(file: string): Value {
  return JSON.parse(readFileSync(new URL(file, recordings), "utf8")) as Value;
}

function exchangesIn(file: string): readonly Exchange[] {
  return readJson<{ interactions: readonly Exchange[] }>(file).interactions;
}

function eventsIn(stream: string): WireEvent[] {
  return stream
    .split(/\r?\n\r?\n/)
    .map((event) => ({
      event: /^event: ?(.*)$/m.exec(event)?.[1],
      data: [...event.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line).join("\n"),
    }))
    .filter(({ data }) => data !== "");
}

/**
 * The one deviation from the vendor's client: it loses the arguments of `mcp_tool_use`, because it gathers only those of
 * the two other kinds of calls. They are in the stream, and the block has to go back with them.
 */
function corrected(content: readonly Block[], events: readonly WireEvent[]): readonly Block[] {
  return content.map((block, index) => {
    if (block.type !== "mcp_tool_use") return block;
    const pieces = events
      .map(({ data }) => JSON.parse(data) as { index?: number; delta?: { partial_json?: string } })
      .map((event) => (event.index === index ? (event.delta?.partial_json ?? "") : ""));
    return { ...block, input: JSON.parse(pieces.join("")) as Json };
  });
}

/** What the fixtures of one JSON payload per line hold: one or more messages. */
function messagesIn(file: string): WireEvent[][] {
  const messages: WireEvent[][] = [[]];
  for (const data of readFileSync(file, "utf8").split("\n")) {
    if (data.trim() === "") continue;
    const { type } = JSON.parse(data) as { type: string };
    messages.at(-1)?.push({ event: type, data });
    if (type === "message_stop") messages.push([]);
  }
  return messages.filter((events) => events.length > 0);
}

describe.skipIf(absent)("the recorded traffic of Anthropic", () => {
  const streams = absent
    ? []
    : readJson<{ file: string; interaction: number; family: string; expected: Message }[]>(
        "expected-from-vendor-sdks.json",
      ).filter(({ family }) => family === "anthropic");
  const answers = absent
    ? []
    : readJson<{ file: string; family: string }[]>("index.json")
        .filter(({ family }) => family === "anthropic")
        .flatMap(({ file }) =>
          exchangesIn(file).map((exchange, interaction) => ({ file, interaction, exchange })),
        )
        .filter(({ exchange }) => exchange.response.form === "json");

  it("has all recorded streams and responses (S0-43)", () => {
    expect([streams.length, answers.length]).toEqual([53, 90]);
  });

  it.each(streams)("of $file, $interaction, is read as the vendor's client reads it (S0-43)", (stream) => {
    const events = eventsIn(exchangesIn(stream.file)[stream.interaction]?.response.body as string);
    expectAnswer(assembled(chunksOf(events)), {
      ...stream.expected,
      content: corrected(stream.expected.content, events),
    });
  });

  it.each(streams)("of $file, $interaction, has no finish before its last event (F15)", (stream) => {
    const events = eventsIn(exchangesIn(stream.file)[stream.interaction]?.response.body as string);
    const reader = anthropicMessages.reader();
    for (const event of events.slice(0, -1)) {
      expect(reader.read(event).filter(({ type }) => type === "finish")).toEqual([]);
    }
    expect(
      events
        .slice(-1)
        .flatMap((event) => reader.read(event))
        .at(-1)?.type,
    ).toBe("finish");
  });

  it.each(answers)("of $file, $interaction, is read without streaming (S0-43)", ({ exchange }) => {
    const body = exchange.response.body as Message;
    expectAnswer(assembled(anthropicMessages.fromJson(body)), body);
  });

  const fixtures = absent ? [] : readdirSync(new URL("vercel-ai/anthropic/", recordings));
  const fixture = (name: string) => new URL(`vercel-ai/anthropic/${name}`, recordings).pathname;

  it.each(
    fixtures.filter((name) => /^anthropic-.*\.json$/.test(name)),
  )("of %s is read whole (S0-43, F22)", (name) => {
    const body = JSON.parse(readFileSync(fixture(name), "utf8")) as Message;
    expectAnswer(assembled(anthropicMessages.fromJson(body)), body);
  });

  it.each(
    fixtures.filter((name) => /^(anthropic|duplicate)-.*\.txt$/.test(name)),
  )("of %s is read to its end, as often as it has one (S0-43, F22)", (name) => {
    for (const events of messagesIn(fixture(name))) {
      const message = assembled(chunksOf(events));
      const starts = events
        .map(({ data }) => JSON.parse(data) as { message?: Message; content_block?: Block })
        .flatMap(({ message, content_block }) => content_block ?? message?.content ?? [])
        .map(({ type }) => type);
      const isBlank = (part: AssistantPart) => part.type === "text" && part.text.trim() === "";
      const blank = buildParts(message).filter(isBlank).length;
      expect(["end", "tool_calls", "refusal"]).toContain(message.stopReason);
      expect(message.usage).toBeDefined();
      const back = saidBack(buildParts(message)).map(({ type }) => type);
      expect(back.length).toBe(starts.length - blank);
      expect(back.filter((type) => type !== "text")).toEqual(starts.filter((type) => type !== "text"));
    }
  });

  it("an answer that restarts within the stream is inconsistent (F15)", () => {
    expect(() => chunksOf(messagesIn(fixture("spliced-message-start.chunks.txt")).flat())).toThrowError(
      expect.objectContaining({ code: "stream_inconsistent", retryable: true }),
    );
  });

  type Link = { readonly from: number; readonly to: number; readonly clean: boolean };
  const links = absent
    ? []
    : readJson<{ file: string; links: Link[] }[]>("loop-links.json")
        .flatMap(({ file, links }) => links.map((link) => ({ file, ...link })))
        .filter(({ file, clean }) => clean && file.includes("/anthropic/"));

  it("has all recorded loops (S0-43)", () => {
    expect(links).toHaveLength(6);
  });

  it.each(links)("of $file: the next request is the recorded one (S0-43, S2-53)", ({ file, from, to }) => {
    const exchanges = exchangesIn(file);
    const [first, next] = [exchanges[from], exchanges[to]];
    if (!first || !next) throw new Error("no such exchange");
    const { body } = first.response;
    const message = assembled(
      typeof body === "string" ? chunksOf(eventsIn(body)) : anthropicMessages.fromJson(body),
    );
    const parts = buildParts(message);
    const recorded = next.request.body as unknown as RecordedRequest;
    const calls = parts.filter((part) => part.type === "call");
    const question = recorded.messages[0]?.content as unknown as string;
    const own = recorded.tools.filter(
      ({ input_schema, ...rest }) => input_schema && Object.keys(rest).length === 2,
    );
    const sent = bodyOf(
      requestOf(
        [
          { type: "user", content: question },
          { type: "assistant", parts },
          ...calls.map((call) => resultOf(call, recorded)),
        ],
        {
          tools: own.map(({ name, description, input_schema }) => ({
            name,
            description,
            input: input_schema,
          })),
          ...(recorded.output_config && { output: recorded.output_config.format.schema }),
        },
      ),
      {
        model: recorded.model,
        stream: recorded.stream === true,
        maxOutputTokens: recorded.max_tokens,
        extra: { tools: recorded.tools.filter((tool) => !own.includes(tool)) as unknown as Json },
      },
    );
    const { tool_choice: _choice, ...comparable } = unmarked(sent) as Body;
    expect(asRecorded(comparable)).toEqual(asRecorded(recorded));
  });
});

type RecordedRequest = Body & {
  readonly model: string;
  readonly max_tokens: number;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly input_schema: JsonSchema;
  }[];
  readonly output_config?: { readonly format: { readonly schema: JsonSchema } };
};

function resultOf({ id, name }: CallPart, { messages }: RecordedRequest): Entry {
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as Block[]) : []));
  const content = blocks.find(({ tool_use_id }) => tool_use_id === id)?.content as string;
  return { type: "result", callId: id, name, status: "ok", content };
}

/**
 * What the recording client does otherwise, and why it makes no difference: a user's text as a text instead of a block;
 * `is_error: false`, which is the default; no `caller` on the calls of server tools, though it has one on others (ours
 * goes back as it came).
 */
function asRecorded({ messages, ...rest }: Body): unknown {
  return {
    ...rest,
    messages: messages.map(({ role, content }) => ({
      role,
      content: (typeof content === "string" ? [{ type: "text", text: content }] : content).map((block) => {
        const { is_error: _error, caller, ...kept } = block as Block;
        return kept.type === "server_tool_use" || caller === undefined ? kept : { ...kept, caller };
      }),
    })),
  };
}

const pixel = "iVBORw0KGgo=";
const weather: ToolSpec = {
  name: "weather",
  description: "Current weather of a city",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const call = (id: string, city: string): CallPart => ({ type: "call", id, name: "weather", input: { city } });
const signed = (text: string, signature: string): AssistantPart => ({
  type: "reasoning",
  text,
  opaque: tagData("anthropic", { signature }),
});
const mark = { cache_control: { type: "ephemeral" } };

describe("the request", () => {
  it("has calls as tool_use and results as tool_result blocks of one user message (S0-43, S2-53)", () => {
    const history: Entry[] = [
      {
        type: "user",
        content: [
          { type: "text", text: "Where is this, and how is the weather?" },
          { type: "image", mediaType: "image/png", data: pixel },
          { type: "image", mediaType: "image/jpeg", url: "https://example.org/a.jpg" },
        ],
      },
      {
        type: "assistant",
        parts: [
          signed("Two cities.", "c2ln"),
          { type: "opaque", data: tagData("anthropic", { type: "redacted_thinking", data: "xyz" }) },
          { type: "text", text: "I look it up." },
          call("toolu_1", "Oslo"),
          { ...call("toolu_2~2", "Rome"), providerId: "toolu_2" },
        ],
      },
      { type: "result", callId: "toolu_1", name: "weather", status: "ok", content: "Rain" },
      { type: "result", callId: "toolu_2~2", name: "weather", status: "error", content: "No such city" },
      { type: "user", content: "Hurry!" },
    ];
    const request = requestOf(history, { instructions: "Be brief.", tools: [weather] });
    expect(bodyOf(request, { temperature: 0.5 })).toEqual({
      model: "claude-sonnet-4-5",
      max_tokens: 64_000,
      temperature: 0.5,
      stream: true,
      system: [{ type: "text", text: "Be brief.", ...mark }],
      tools: [
        {
          name: "weather",
          description: "Current weather of a city",
          input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
          ...mark,
        },
      ],
      tool_choice: { type: "auto" },
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Where is this, and how is the weather?" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } },
            { type: "image", source: { type: "url", url: "https://example.org/a.jpg" }, ...mark },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Two cities.", signature: "c2ln" },
            { type: "redacted_thinking", data: "xyz" },
            { type: "text", text: "I look it up." },
            { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Oslo" } },
            { type: "tool_use", id: "toolu_2", name: "weather", input: { city: "Rome" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_1", content: "Rain" },
            { type: "tool_result", tool_use_id: "toolu_2", content: "No such city", is_error: true },
            { type: "text", text: "Hurry!", ...mark },
          ],
        },
      ],
    });
  });

  it.each([
    "error",
    "denied",
    "skipped",
    "interrupted",
  ] as const)("shows a result that is %s as an error (S2-53)", (status) => {
    const { messages } = bodyOf(
      requestOf([
        { type: "user", content: "?" },
        { type: "assistant", parts: [call("a", "Oslo")] },
        { type: "result", callId: "a", name: "weather", status, content: "no" },
      ]),
    );
    expect(messages[2]?.content[0]).toMatchObject({ type: "tool_result", is_error: true });
  });

  it("puts results before user text, and merges adjacent messages (S2-53)", () => {
    const { messages } = bodyOf(
      requestOf([
        { type: "summary", text: "They talked." },
        { type: "user", content: "?" },
        { type: "assistant", parts: [{ type: "text", text: "One." }] },
        { type: "assistant", parts: [call("a", "Oslo")] },
        { type: "user", content: "Wait" },
        {
          type: "result",
          callId: "a",
          name: "weather",
          status: "ok",
          content: [{ type: "text", text: "Rain" }],
        },
      ]),
    );
    expect(unmarked(messages)).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Summary of the conversation so far:\nThey talked." },
          { type: "text", text: "?" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "One." },
          { type: "tool_use", id: "a", name: "weather", input: { city: "Oslo" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "Rain" }] },
          { type: "text", text: "Wait" },
        ],
      },
    ]);
  });

  it("has four cache points at most, on the last two of the user's messages, and is as before without them (S0-43)", () => {
    const history: Entry[] = Array.from({ length: 6 }, (_, index): Entry[] => [
      { type: "user", content: `question ${index}` },
      { type: "assistant", parts: [{ type: "text", text: `answer ${index}` }] },
    ]).flat();
    const sent = (length: number) =>
      bodyOf(
        requestOf(history.slice(0, length), {
          instructions: "Be brief.",
          tools: [weather, { ...weather, name: "b" }],
        }),
      );
    const late = sent(11);
    expect(JSON.stringify(late).match(/cache_control/g)).toHaveLength(4);
    expect(late.messages.map(({ content }) => JSON.stringify(content).includes("cache_control"))).toEqual(
      late.messages.map((_, index) => index === 8 || index === 10),
    );
    const early = unmarked(sent(3).messages) as unknown[];
    expect((unmarked(late.messages) as unknown[]).slice(0, 3)).toEqual(early);
    expect(sent(11)).toEqual(late);
  });

  it("sends back no thinking without a signature, and no data of another provider (C-21, F22)", () => {
    const parts: AssistantPart[] = [
      { type: "reasoning", text: "unsigned" },
      { type: "reasoning", text: "closed, unsigned", opaque: tagData("anthropic", {}) },
      { type: "reasoning", text: "foreign", opaque: tagData("gemini", { signature: "abc" }) },
      { type: "opaque", data: tagData("openai-responses", { type: "reasoning", encrypted_content: "abc" }) },
      { type: "text", text: "Hello", opaque: tagData("gemini", { citations: [1] }) },
      { ...call("call.1", "Oslo"), opaque: tagData("gemini", { thoughtSignature: "abc" }) },
      { type: "text", text: "  " },
    ];
    expect(saidBack(parts)).toEqual([
      { type: "text", text: "Hello" },
      { type: "tool_use", id: "call_1", name: "weather", input: { city: "Oslo" } },
    ]);
    expect(saidBack(parts.slice(0, 4))).toEqual([]);
  });

  it("has unique ids, even if a provider repeated one (S2-53)", () => {
    const turn = (id: string): Entry[] => [
      { type: "assistant", parts: [{ ...call(id, "Oslo"), providerId: "c" }] },
      { type: "result", callId: id, name: "weather", status: "ok", content: id },
    ];
    const history: Entry[] = [{ type: "user", content: "?" }, ...turn("c~2"), ...turn("c~3")];
    const blocks = bodyOf(requestOf(history)).messages.flatMap(({ content }) => content);
    expect(blocks.flatMap(({ id, tool_use_id }) => id ?? tool_use_id ?? [])).toEqual([
      "c",
      "c",
      "c_3",
      "c_3",
    ]);
    // The later turn alone has the provider's own id again.
    const alone = bodyOf(requestOf([{ type: "user", content: "?" }, ...turn("c~3")])).messages;
    expect(alone[1]?.content[0]?.id).toBe("c");
  });

  it("sends invalid arguments back as such, and replaces lone surrogates (S2-53)", () => {
    const [block] = saidBack([{ ...call("a", ""), input: {}, raw: '{"city": "Os' }]);
    expect(block?.input).toEqual({ _raw: '{"city": "Os' });
    const { messages } = bodyOf(requestOf([{ type: "user", content: "half \ud83d \\ud83d \u{1f600}" }]));
    expect(messages[0]?.content[0]?.text).toBe("half \ufffd \\ud83d \u{1f600}");
  });

  it("has documents for files, and a note for unsupported ones (S0-43)", () => {
    const data = btoa("a,b");
    const { messages } = bodyOf(
      requestOf([
        {
          type: "user",
          content: [
            { type: "file", mediaType: "application/pdf", data: "JVBERg==" },
            { type: "file", mediaType: "application/pdf", url: "https://example.org/a.pdf" },
            { type: "file", mediaType: "text/csv; charset=utf-8", data },
            { type: "file", mediaType: "application/zip", data },
            { type: "file", mediaType: "text/plain", url: "https://example.org/a.txt" },
            { type: "image", mediaType: "image/tiff", data },
            { type: "image", mediaType: "image/jpg", url: `data:image/jpeg;base64,${data}` },
          ],
        },
      ]),
    );
    expect(unmarked(messages[0]?.content)).toEqual([
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERg==" } },
      { type: "document", source: { type: "url", url: "https://example.org/a.pdf" } },
      { type: "document", source: { type: "text", media_type: "text/plain", data: "a,b" } },
      { type: "text", text: "[file application/zip]" },
      { type: "text", text: "[file text/plain at https://example.org/a.txt]" },
      { type: "text", text: "[image image/tiff]" },
      { type: "image", source: { type: "base64", media_type: "image/jpeg", data } },
    ]);
  });

  it.each([
    ["auto", { type: "auto" }],
    ["required", { type: "any" }],
    ["none", { type: "none" }],
  ] as const)("sends tool choice %s in the API's own form (S0-43)", (toolChoice, expected) => {
    const body = bodyOf(requestOf([{ type: "user", content: "?" }], { tools: [weather], toolChoice }));
    expect(body.tool_choice).toEqual(expected);
  });

  it("without tools on offer still declares the tools that were called, because the API requires it (S0-43)", () => {
    const history: Entry[] = [
      { type: "user", content: "?" },
      { type: "assistant", parts: [call("a", "Oslo")] },
      { type: "result", callId: "a", name: "weather", status: "ok", content: "Rain" },
    ];
    const body = bodyOf(requestOf(history, { toolChoice: "none" }));
    expect(body.tool_choice).toEqual({ type: "none" });
    expect(body.tools).toMatchObject([{ name: "weather", input_schema: { type: "object" } }]);
    const plain = bodyOf(requestOf(history.slice(0, 1), { toolChoice: "none" }));
    expect([plain.tools, plain.tool_choice]).toEqual([undefined, undefined]);
  });

  it("begins and ends with the user, except after a pause (S0-43)", () => {
    const said: Entry = { type: "assistant", parts: [{ type: "text", text: "Hello" }] };
    const use = { type: "server_tool_use", id: "s", name: "web_search", input: {} };
    const paused: Entry = { type: "assistant", parts: [{ type: "opaque", data: tagData("anthropic", use) }] };
    const rolesIn = (history: Entry[]) => bodyOf(requestOf(history)).messages.map(({ role }) => role);
    expect(rolesIn([])).toEqual(["user"]);
    expect(rolesIn([said])).toEqual(["user", "assistant", "user"]);
    expect(rolesIn([{ type: "user", content: "?" }, paused])).toEqual(["user", "assistant"]);
  });

  it.each([
    ["claude-3-haiku-20240307", 4096, 4096],
    ["claude-3-5-haiku-latest", 8192, 8192],
    ["claude-3-7-sonnet-20250219", 64_000, 64_000],
    ["claude-sonnet-4-20250514", 64_000, 64_000],
    ["claude-opus-4-1-20250805", 32_000, 32_000],
    ["claude-opus-4-5", 64_000, 64_000],
    ["anthropic.claude-haiku-4-5-20251001-v1:0", 64_000, 64_000],
    ["claude-opus-4-6", 128_000, 128_000],
    ["claude-sonnet-5@20260901", 128_000, 128_000],
    ["claude-test", 8192, 32_000],
    ["kimi-k2", 8192, 32_000],
  ])("of %s may be as long as the model can write: %i tokens, and %i with more room", (model, usual, more) => {
    const request = requestOf([{ type: "user", content: "?" }]);
    expect(bodyOf(request, { model }).max_tokens).toBe(usual);
    expect(bodyOf(request, { model, maxOutputTokens: 100 }).max_tokens).toBe(100);
    const raised = bodyOf({ ...request, maxOutputTokens: 32_000 }, { model, maxOutputTokens: 32_000 });
    expect(raised.max_tokens).toBe(more);
  });

  it("leaves room for a long input, and ends before a connection without a stream times out", () => {
    const model = "claude-sonnet-4-0";
    const limitOf = (length: number) =>
      bodyOf(requestOf([{ type: "user", content: "x".repeat(length) }]), { model }).max_tokens;
    expect(limitOf(500_000)).toBeLessThan(34_000);
    expect(limitOf(900_000)).toBe(8192);
    expect(bodyOf(requestOf([]), { model, stream: false }).max_tokens).toBe(20_000);
  });

  it("raises the limit above a thinking budget, and omits thinking where the API rejects it (C-21)", () => {
    const thinking = { type: "enabled", budget_tokens: 10_000 };
    const question: Entry = { type: "user", content: "?" };
    const result: Entry = { type: "result", callId: "a", name: "weather", status: "ok", content: "Rain" };
    const headOf = (history: Entry[], toolChoice: ModelRequest["toolChoice"] = "auto") => {
      const request = requestOf(history, { tools: [weather], toolChoice });
      const body = bodyOf(request, { extra: { thinking }, temperature: 0 });
      return [body.max_tokens, body.thinking, body.temperature];
    };
    const on = [64_000, thinking, undefined];
    const off = [64_000, undefined, 0];
    expect(headOf([question])).toEqual(on);
    expect(headOf([question], "required")).toEqual(off);
    expect(headOf([question, { type: "assistant", parts: [call("a", "Oslo")] }, result])).toEqual(off);
    const own: Entry = { type: "assistant", parts: [signed("Hm", "c2ln"), call("a", "Oslo")] };
    expect(headOf([question, own, result])).toEqual(on);
  });

  it("accepts extra body fields and extra tools (S0-43)", () => {
    const extra = {
      tools: [
        { type: "web_search_20250305", name: "web_search" },
        { name: "b", input_schema: {}, allowed_callers: [] },
      ],
      output_config: { effort: "low" },
      top_k: 3,
      system: "no",
    };
    const request = requestOf([{ type: "user", content: "?" }], {
      tools: [weather, { ...weather, name: "b" }],
      output: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    });
    const body = bodyOf(request, { extra, maxOutputTokens: 100, stream: false });
    expect((body.tools as { name: string }[]).map(({ name }) => name)).toEqual([
      "weather",
      "web_search",
      "b",
    ]);
    expect(body).toMatchObject({ top_k: 3, max_tokens: 100, output_config: { effort: "low" } });
    expect((body.output_config as { format: unknown }).format).toEqual({
      type: "json_schema",
      schema: {
        type: "object",
        properties: { a: { type: "string" } },
        required: ["a"],
        additionalProperties: false,
      },
    });
    expect([body.system, body.stream]).toEqual([undefined, undefined]);
    expect(
      JSON.stringify(bodyOf(request, { extra: { cache_control: { type: "ephemeral" } } })).match(
        /cache_control/g,
      ),
    ).toHaveLength(1);
  });
});

describe("names and schemas of tools", () => {
  it("are encoded for the API and decoded back, without collisions (S0-43)", () => {
    const names = ["a.b", "a/b", "a b", "größe", "n".repeat(128), `${"n".repeat(127)}m`, "plain-name_1"];
    const body = bodyOf(
      requestOf([{ type: "user", content: "?" }], { tools: names.map((name) => ({ ...weather, name })) }),
    );
    const sent = (body.tools as { name: string }[]).map(({ name }) => name);
    expect(sent.every((name) => /^[\w-]{1,64}$/.test(name))).toBe(true);
    expect(new Set(sent).size).toBe(names.length);
    expect(sent.at(-1)).toBe("plain-name_1");
    const message = assembled(
      chunksOf(saying(sent.map((name, index) => ({ type: "tool_use", id: `${index}`, name, input: {} })))),
    );
    const parts = buildParts(message).filter((part) => part.type === "call");
    expect(parts.map(({ name }) => name)).toEqual(names);
    expect(saidBack(parts).map(({ name }) => name)).toEqual(sent);
  });

  const schemaOf = (input: JsonSchema) => {
    const body = bodyOf(requestOf([{ type: "user", content: "?" }], { tools: [{ ...weather, input }] }));
    return (body.tools as { input_schema: JsonSchema }[])[0]?.input_schema;
  };

  it("have an object at the root and no choice there (S0-43)", () => {
    expect(schemaOf({ $schema: "https://json-schema.org/draft/2020-12/schema" })).toEqual({ type: "object" });
    const choice = {
      anyOf: [
        {
          type: "object",
          properties: { kind: { const: "a" }, x: { type: "number" } },
          required: ["kind", "x"],
        },
        { $ref: "#/$defs/b" },
      ],
      $defs: { b: { type: "object", properties: { kind: { const: "b" } }, required: ["kind"] } },
    };
    expect(schemaOf(choice)).toEqual({
      type: "object",
      properties: { kind: { anyOf: [{ const: "a" }, { const: "b" }] }, x: { type: "number" } },
      required: ["kind"],
      $defs: choice.$defs,
      description: `The arguments must match anyOf: ${JSON.stringify(choice.anyOf)}.`,
    });
    expect(schemaOf({ $ref: "#/$defs/b", $defs: choice.$defs })).toMatchObject(choice.$defs.b);
  });

  it("describe properties whose names the API rejects (S0-43)", () => {
    const input = {
      type: "object",
      properties: { größe: { type: "number" }, b: {} },
      required: ["größe", "b"],
    };
    expect(schemaOf(input)).toEqual({
      type: "object",
      properties: { b: {} },
      required: ["b"],
      description: 'Additional property "größe": {"type":"number"}.',
    });
  });

  const formOf = (output: JsonSchema) => {
    const { output_config } = bodyOf(requestOf([{ type: "user", content: "?" }], { output }));
    return (output_config as { format: { schema: JsonSchema } } | undefined)?.format.schema;
  };

  it("of an answer are converted to the enforced subset (S0-43)", () => {
    const form = formOf({
      $schema: "x",
      type: "object",
      properties: {
        age: { type: "integer", minimum: 0, description: "In years" },
        mail: { type: ["string", "null"], format: "email", maxLength: 9 },
        list: {
          type: "array",
          items: { oneOf: [{ type: "string", format: "odd" }, { $ref: "#/$defs/p" }] },
          minItems: 2,
        },
      },
      $defs: { p: { type: "object", properties: {} } },
    });
    expect(form).toEqual({
      type: "object",
      properties: {
        age: { type: "integer", description: "In years\n{minimum: 0}" },
        mail: {
          anyOf: [{ type: "string", format: "email", description: "{maxLength: 9}" }, { type: "null" }],
        },
        list: {
          type: "array",
          items: { anyOf: [{ type: "string", description: '{format: "odd"}' }, { $ref: "#/$defs/p" }] },
          description: "{minItems: 2}",
        },
      },
      $defs: { p: { type: "object", properties: {}, additionalProperties: false } },
      additionalProperties: false,
    });
  });

  it.each([
    { type: "object", additionalProperties: { type: "string" } },
    { type: "object", properties: { a: { $ref: "#" } } },
    {
      type: "object",
      properties: { a: { $ref: "#/$defs/a" } },
      $defs: { a: { type: "array", items: { $ref: "#/$defs/a" } } },
    },
    { type: "object", properties: { a: { not: { type: "string" } } } },
  ])("of an answer are left to the instructions if the subset cannot express them: %j (S0-43)", (output) => {
    expect(formOf(output)).toBeUndefined();
  });
});

describe("an answer", () => {
  it("keeps thinking, citations and unknown blocks in their place, block by block (F22, C-21)", () => {
    const blocks: Block[] = [
      { type: "thinking", thinking: "", signature: "b21pdHRlZA==" },
      { type: "thinking", thinking: "More.", signature: "c2ln" },
      { type: "redacted_thinking", data: "abc" },
      { type: "text", text: "One." },
      { type: "text", text: "Two.", citations: [{ type: "char_location", cited_text: "Two" }] },
      { type: "text", text: "Three." },
      { type: "something_new", content: { deep: [1, null] } },
      { type: "tool_use", id: "t", name: "weather", input: { city: "Oslo" }, caller: { type: "direct" } },
      { type: "text", text: "Four." },
    ];
    expect(saidBack(buildParts(assembled(chunksOf(saying(blocks)))))).toEqual(blocks);
    const whole = { type: "message", content: blocks, stop_reason: "tool_use", usage: {} };
    expect(saidBack(buildParts(assembled(anthropicMessages.fromJson(whole))))).toEqual(blocks);
  });

  it("of running code arrives complete with its first event, and its container is sent back within the turn (F22)", () => {
    const caller = { type: "code_execution_20250825", tool_id: "s" };
    const block = { type: "tool_use", id: "t", name: "weather", input: { city: "Oslo" }, caller };
    const message = { content: [block], stop_reason: "tool_use", container: { id: "box" }, usage: {} };
    const events = [eventOf({ type: "message_start", message }), eventOf({ type: "message_stop" })];
    const said = assembled(chunksOf(events));
    expect(said.stopReason).toBe("tool_calls");
    expect(saidBack(buildParts(said))).toEqual([block]);
    const history: Entry[] = [
      { type: "user", content: "?" },
      { type: "assistant", parts: buildParts(said) },
      { type: "result", callId: "t", name: "weather", status: "ok", content: "Rain" },
    ];
    const extra = { tools: [{ type: "code_execution_20250825", name: "code_execution" }] };
    const containerIn = (length: number) => bodyOf(requestOf(history.slice(0, length)), { extra }).container;
    expect([containerIn(3), containerIn(2)]).toEqual(["box", undefined]);
    expect(bodyOf(requestOf(history)).container).toBeUndefined();
  });

  it("never joins unsigned thinking with the signed that follows (C-21)", () => {
    const blocks = [
      { type: "thinking", thinking: "Unsigned." },
      { type: "thinking", thinking: "Signed.", signature: "c2ln" },
    ];
    expect(saidBack(buildParts(assembled(chunksOf(saying(blocks)))))).toEqual(blocks.slice(1));
  });

  it("emits the pieces of arguments as they arrive (S0-43)", () => {
    const pieces = ['{"ci', "", 'ty":"Os', 'lo"}'].map((partial_json) =>
      eventOf({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json } }),
    );
    const [start, head, ...end] = saying(
      [{ type: "tool_use", id: "t", name: "weather", input: {} }],
      "tool_use",
    );
    const chunks = chunksOf([start, head, ...pieces, ...end] as WireEvent[]);
    expect(chunks).toEqual([
      { type: "call_start", index: 0, id: "t", name: "weather" },
      { type: "call_delta", index: 0, text: '{"ci' },
      { type: "call_delta", index: 0, text: 'ty":"Os' },
      { type: "call_delta", index: 0, text: 'lo"}' },
      { type: "usage", usage: { inputTokens: 3, outputTokens: 7 } },
      { type: "finish", reason: "tool_calls" },
    ]);
  });

  it("is sent back unchanged, however it was split (F22)", () => {
    const text = fc.string({ minLength: 1, unit: "grapheme" }).filter((said) => said.trim() !== "");
    // A key that no arguments may have.
    const key = text.filter((said) => said !== "__proto__");
    const block = fc.oneof(
      fc.record({ type: fc.constant("text"), text }),
      fc.record({
        type: fc.constant("thinking"),
        thinking: fc.string(),
        signature: fc.base64String({ minLength: 4 }),
      }),
      fc.record({
        type: fc.constant("tool_use"),
        name: fc.constant("weather"),
        input: fc.dictionary(key, text),
      }),
      fc.record({ type: fc.constant("mcp_tool_result"), content: fc.array(text) }),
    );
    const said = fc.array(block, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(said, fc.integer({ min: 1, max: 5 }), (blocks, size) => {
        const named = blocks.map((one, index) =>
          one.type === "tool_use" ? { ...one, id: `t${index}` } : one,
        );
        const events = named.flatMap((one, index) => split(one as Block, index, size));
        const [start] = saying([]);
        const parts = buildParts(
          assembled(chunksOf([start as WireEvent, ...events, ...saying([]).slice(1)])),
        );
        expect(saidBack(parts)).toEqual(named);
      }),
    );
  });

  it.each([
    ["end_turn", "end"],
    ["stop_sequence", "end"],
    ["tool_use", "tool_calls"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "refusal"],
    ["pause_turn", "pause"],
    ["compaction", "pause"],
    ["of_the_future", "other"],
    [null, "other"],
  ])("that stopped for %s finishes with %s (F22, F24, F25, F86)", (stop, finish) => {
    const end = { type: "finish", reason: finish, ...(finish === "other" && stop && { detail: stop }) };
    expect(chunksOf(saying([{ type: "text", text: "Hi" }], stop)).at(-1)).toEqual(end);
    const body = { type: "message", content: [], stop_reason: stop };
    expect(anthropicMessages.fromJson(body)).toEqual([end]);
  });

  it("truncated at the token limit within a call keeps the partial arguments (F24)", () => {
    const half = eventOf({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: '{"amount": 1' },
    });
    const [start, head, ...end] = saying(
      [{ type: "tool_use", id: "t", name: "pay", input: {} }],
      "max_tokens",
    );
    const message = assembled(chunksOf([start, head, half, ...end] as WireEvent[]));
    expect(message.stopReason).toBe("length");
    expect(buildParts(message)).toEqual([
      { type: "call", id: "t", name: "pay", input: {}, raw: '{"amount": 1' },
    ]);
  });

  it("that starts a block twice is inconsistent (F15)", () => {
    const [start, block] = saying([{ type: "text", text: "Hi" }]);
    const events = [start, block, eventOf({ type: "content_block_stop", index: 0 }), block] as WireEvent[];
    expect(() => chunksOf(events)).toThrowError(expect.objectContaining({ code: "stream_inconsistent" }));
  });

  it("has no finish where the stream has none (F15)", () => {
    const events = saying([{ type: "text", text: "Hi" }]);
    for (let length = 0; length < events.length; length++)
      expect(assembled(chunksOf(events.slice(0, length))).stopReason).toBeUndefined();
  });

  it("counts cached tokens as input, and treats usage figures as running totals (S0-43)", () => {
    const figures = {
      input_tokens: 10,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 1000,
      cache_creation: { ephemeral_5m_input_tokens: 600, ephemeral_1h_input_tokens: 400 },
      output_tokens: 1,
    };
    const usage = { output_tokens: 50, output_tokens_details: { thinking_tokens: 20 }, input_tokens: null };
    const events = [
      { type: "message_start", message: { usage: figures } },
      { type: "message_delta", delta: {}, usage: { output_tokens: 30 } },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
      { type: "message_stop" },
    ].map((data) => eventOf(data as never));
    expect(assembled(chunksOf(events)).usage).toEqual({
      inputTokens: 1110,
      outputTokens: 50,
      cachedTokens: 100,
      cacheWriteTokens: 1000,
      longCacheWriteTokens: 400,
      reasoningTokens: 20,
    });
  });

  it.each([
    ["overloaded_error", "Overloaded", "model_overloaded", true],
    [
      "rate_limit_error",
      "This request would exceed your rate limit of 40,000 input tokens per minute",
      "model_rate_limited",
      true,
    ],
    ["api_error", "Internal server error", "model_failed", true],
    ["timeout_error", "Timed out", "model_timeout", true],
    ["of_the_future_error", "?", "model_failed", true],
    ["authentication_error", "invalid x-api-key", "model_auth", false],
    ["permission_error", "no", "model_auth", false],
    ["not_found_error", "model: claude-0", "model_not_found", false],
    ["billing_error", "no credit", "model_rejected", false],
    ["invalid_request_error", "max_tokens: 100000 > 8192, which is the maximum", "model_rejected", false],
    [
      "invalid_request_error",
      "prompt is too long: 205000 tokens > 200000 maximum",
      "context_overflow",
      false,
    ],
    ["request_too_large", "Request exceeds the maximum size", "context_overflow", false],
  ])("that fails with %s (%s) is %s (F19)", (type, message, code, retryable) => {
    const body = { type: "error", error: { type, message } };
    const error = expect.objectContaining({ code, retryable, message: expect.stringContaining(message) });
    expect(() => chunksOf([{ event: "error", data: JSON.stringify(body) }])).toThrowError(error);
    expect(() => anthropicMessages.fromJson(body)).toThrowError(error);
  });

  it("that fails reveals no key and truncates the message (F19)", () => {
    const body = {
      type: "error",
      error: { type: "api_error", message: `key sk-ant-api03-abcdefghijkl ${"x".repeat(9000)}` },
    };
    let told = "";
    try {
      chunksOf([{ data: JSON.stringify(body) }]);
    } catch (thrown) {
      told = (thrown as Error).message;
    }
    expect(told).toMatch(/^The model's response failed: /);
    expect(told).not.toContain("abcdefghijkl");
    expect(told.length).toBeLessThan(600);
  });

  it.each([
    "not json",
    '"a string"',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a hole"}}',
    '{"type":"content_block_start","index":0}',
    '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use"}}',
    '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":3}}',
  ])("with the event %s cannot be read (F15)", (data) => {
    expect(() => chunksOf([{ data }])).toThrowError(
      expect.objectContaining({ code: "bad_chunk", retryable: true }),
    );
  });

  it.each([null, [], {}, "text"])("that came whole as %j cannot be read (F15)", (body) => {
    expect(() => anthropicMessages.fromJson(body)).toThrowError(
      expect.objectContaining({ code: "bad_chunk" }),
    );
  });

  it("ignores pings, unknown events, and events after its end (F22)", () => {
    const events: WireEvent[] = [
      { event: "ping", data: "" },
      { data: '{"type":"ping"}' },
      { data: '{"type":"of_the_future"}' },
      ...saying([{ type: "text", text: "Hi" }]),
      { data: "[DONE]" },
    ];
    expect(chunksOf(events).map(({ type }) => type)).toEqual(["text", "usage", "finish"]);
  });
});

describe("a context that is too small", () => {
  it.each([
    ["prompt is too long: 213462 tokens > 200000 maximum", true],
    [
      "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length",
      true,
    ],
    ["Request exceeds the maximum size", true],
    ["This request would exceed your organization's rate limit of 80,000 input tokens per minute", false],
    ["max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens", false],
    ["messages.0.content.1: image exceeds 5 MB maximum", false],
  ])("is recognized by its message: %s (S0-43)", (message, expected) => {
    expect(anthropicMessages.isOverflow(message)).toBe(expected);
  });
});

/** A block as the API streams it: an empty head, then pieces of so many characters. */
function split(block: Block, index: number, size: number): WireEvent[] {
  const cut = (text: string) => text.match(new RegExp(`[^]{1,${size}}`, "gu")) ?? [];
  const [head, deltas] = ((): [Block, { readonly [field: string]: Json }[]] => {
    if (block.type === "text")
      return [
        { ...block, text: "" },
        cut(block.text as string).map((text) => ({ type: "text_delta", text })),
      ];
    if (block.type === "thinking") {
      const said = cut(block.thinking as string).map((thinking) => ({ type: "thinking_delta", thinking }));
      return [
        { ...block, thinking: "", signature: "" },
        [...said, { type: "signature_delta", signature: block.signature as string }],
      ];
    }
    if (block.type !== "tool_use") return [block, []];
    const input = cut(JSON.stringify(block.input)).map((partial_json) => ({
      type: "input_json_delta",
      partial_json,
    }));
    return [{ ...block, input: {} }, input];
  })();
  return [
    eventOf({ type: "content_block_start", index, content_block: head }),
    ...deltas.map((delta) => eventOf({ type: "content_block_delta", index, delta })),
    eventOf({ type: "content_block_stop", index }),
  ];
}
