import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AgentError } from "../base/errors.ts";
import {
  addChunk,
  buildParts,
  createMessageBuilder,
  type MessageBuilder,
} from "../kernel/calls/message-builder.ts";
import type { AssistantEntry, AssistantPart, Entry } from "../kernel/history.ts";
import type { Chunk, ModelRequest, ToolSpec } from "../kernel/model.ts";
import { createChatWire, openAiChat } from "./openai-chat.ts";
import { getOwnData, tagData, type Wire, type WireSettings } from "./wire.ts";

const lenient = createChatWire({});
const pay: ToolSpec = {
  name: "pay",
  description: "Pays.",
  input: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
};

function request(given: Partial<ModelRequest> = {}): ModelRequest {
  return { instructions: "", history: [], tools: [], toolChoice: "auto", thinking: false, ...given };
}

// biome-ignore lint/suspicious/noExplicitAny: the body of a request
function body(wire: Wire, given: Partial<ModelRequest>, settings: Partial<WireSettings> = {}): any {
  return JSON.parse(wire.toRequest(request(given), { model: "m", stream: false, ...settings }));
}

function assembled(chunks: readonly Chunk[]): MessageBuilder {
  const taken = new Map<string, number>();
  const message = createMessageBuilder((providerId, index) => {
    const id = providerId || `made_${index}`;
    const times = (taken.get(id) ?? 0) + 1;
    taken.set(id, times);
    return times === 1 ? id : `${id}~${times}`;
  });
  for (const chunk of chunks) addChunk(message, chunk);
  return message;
}

/** Reads payloads as a stream; texts stand for themselves. */
function read(wire: Wire, payloads: readonly (string | object)[]): Chunk[] {
  const reader = wire.reader();
  return payloads.flatMap((payload) => [
    ...reader.read({ data: typeof payload === "string" ? payload : JSON.stringify(payload) }),
  ]);
}

const delta = (fields: object, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const pieces = (...tool_calls: object[]): object => delta({ tool_calls });
const finish = (reason: string | null): object => delta({}, reason);

function callsIn(wire: Wire, payloads: readonly (string | object)[]) {
  const message = assembled(read(wire, payloads));
  const calls = buildParts(message)
    .filter((part) => part.type === "call")
    .map(({ name, input, id }) => ({ id, name, input }));
  return { calls, finish: message.stopReason };
}

function thrownBy(action: () => unknown): AgentError {
  try {
    action();
  } catch (thrown) {
    if (thrown instanceof AgentError) return thrown;
  }
  throw new Error("no AgentError was thrown");
}

const conversation: readonly Entry[] = [
  { type: "summary", text: "They met." },
  {
    type: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "image", mediaType: "image/png", data: "aGk=" },
      { type: "image", mediaType: "image/jpeg", url: "https://example.com/a.jpg" },
      { type: "file", mediaType: "application/pdf", data: "cGRm" },
      { type: "file", mediaType: "audio/wav", data: "d2F2" },
      { type: "file", mediaType: "application/pdf", url: "https://example.com/a.pdf" },
    ],
  },
  {
    type: "assistant",
    parts: [
      { type: "reasoning", text: "Let me see.", opaque: tagData("anthropic", { signature: "s" }) },
      { type: "text", text: "I look." },
      { type: "call", id: "call_1~2", providerId: "call_1", name: "look", input: { at: "image" } },
      { type: "call", id: "call_2", name: "pay", input: {}, raw: '{"amount":' },
    ],
  },
  {
    type: "result",
    callId: "call_1~2",
    name: "look",
    status: "ok",
    content: [
      { type: "text", text: "A cat." },
      { type: "image", mediaType: "image/png", data: "aGk=" },
    ],
  },
  { type: "result", callId: "call_2", name: "pay", status: "error", content: "The arguments are not JSON." },
  { type: "assistant", parts: [{ type: "text", text: "A cat." }] },
  { type: "user", content: "Thanks" },
];

describe("a request of chat completions", () => {
  it("has the instructions first, then each entry in the API's own form, with text next to calls (S1-04) (S1-16) (S2-52) (C-16) (D-08)", () => {
    expect(body(openAiChat, { instructions: "Be kind.", history: conversation }).messages).toEqual([
      { role: "system", content: "Be kind." },
      { role: "user", content: "Summary of the conversation so far:\nThey met." },
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
          { type: "image_url", image_url: { url: "https://example.com/a.jpg" } },
          { type: "file", file: { filename: "file.pdf", file_data: "data:application/pdf;base64,cGRm" } },
          { type: "input_audio", input_audio: { data: "d2F2", format: "wav" } },
          { type: "text", text: "[file application/pdf: https://example.com/a.pdf]" },
        ],
      },
      {
        role: "assistant",
        content: "I look.",
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "look", arguments: '{"at":"image"}' } },
          { id: "call_2", type: "function", function: { name: "pay", arguments: '{"amount":' } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "A cat.\n[image image/png]" },
      { role: "tool", tool_call_id: "call_2", content: "The arguments are not JSON." },
      {
        role: "user",
        content: [
          { type: "text", text: "From the result of look:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
        ],
      },
      { role: "assistant", content: "A cat." },
      { role: "user", content: "Thanks" },
    ]);
  });

  it("has no system message without instructions, and content null when there are only calls (S1-16)", () => {
    const parts: AssistantPart[] = [{ type: "call", id: "a", name: "pay", input: { amount: 1 } }];
    expect(body(openAiChat, { history: [{ type: "assistant", parts }] }).messages).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "a", type: "function", function: { name: "pay", arguments: '{"amount":1}' } }],
      },
    ]);
  });

  it("requests usage when streaming, and uses the server's field for the limit (S1-04)", () => {
    const settings = { stream: true, maxOutputTokens: 9, temperature: 0.5, extra: { seed: 7 } };
    expect(body(openAiChat, { tools: [pay] }, settings)).toEqual({
      model: "m",
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 9,
      temperature: 0.5,
      seed: 7,
      messages: [],
      tools: [{ type: "function", function: { name: "pay", description: "Pays.", parameters: pay.input } }],
    });
    expect(body(createChatWire({ usageOption: false }), {}, settings)).toEqual({
      model: "m",
      stream: true,
      max_tokens: 9,
      temperature: 0.5,
      seed: 7,
      messages: [],
    });
  });

  it("sends the tool choice in the server's format (S1-04)", () => {
    const choice = (wire: Wire, given: Partial<ModelRequest>) => body(wire, given).tool_choice;
    expect(choice(openAiChat, { tools: [pay], toolChoice: "required" })).toBe("required");
    expect(choice(openAiChat, { tools: [pay], toolChoice: "none" })).toBe("none");
    expect(choice(openAiChat, { tools: [pay] })).toBeUndefined();
    expect(choice(openAiChat, { toolChoice: "none" })).toBeUndefined();
    expect(choice(createChatWire({ required: "any" }), { tools: [pay], toolChoice: "required" })).toBe("any");
  });

  it("requests an output schema if the server supports it, and with tools only if that works (S2-52)", () => {
    const output = { $schema: "x", type: "object", properties: { a: { type: "string" } } };
    const { $schema: _, ...schema } = output;
    const form = { type: "json_schema", json_schema: { name: "answer", schema } };
    expect(body(openAiChat, { output, tools: [pay] }).response_format).toEqual(form);
    expect(body(lenient, { output }).response_format).toEqual(form);
    expect(body(lenient, { output, tools: [pay] }).response_format).toBeUndefined();
    expect(body(createChatWire({ output: "json_object" }), { output }).response_format).toEqual({
      type: "json_object",
    });
    expect(body(createChatWire({ output: "none" }), { output }).response_format).toBeUndefined();
    expect(body(openAiChat, { output: { type: "array", items: {} } }).response_format).toBeUndefined();
  });

  it("toggles thinking only if the server has a known switch (S2-52)", () => {
    const wire = createChatWire({ thinking: { on: { think: true }, off: { think: false } } });
    expect(body(wire, { thinking: true }).think).toBe(true);
    expect(body(wire, { thinking: false }).think).toBe(false);
    expect(Object.keys(body(openAiChat, { thinking: true }))).toEqual(["model", "stream", "messages"]);
  });

  it("writes each entry and tool once, and the same text for the same history (S2-52)", () => {
    let reads = 0;
    const entry: Entry = {
      type: "user",
      get content() {
        reads++;
        return "Hi";
      },
    };
    const first = openAiChat.toRequest(request({ history: [entry] }), { model: "m", stream: true });
    const again = openAiChat.toRequest(request({ history: [entry] }), { model: "m", stream: true });
    expect(again).toBe(first);
    expect(reads).toBe(1);
  });

  it("two calls of a message that a server named alike get different ids, and each result its own (F28)", () => {
    const history: Entry[] = [
      {
        type: "assistant",
        parts: [
          { type: "call", id: "x", name: "pay", input: { amount: 1 } },
          { type: "call", id: "x~2", providerId: "x", name: "pay", input: { amount: 2 } },
        ],
      },
      { type: "result", callId: "x", name: "pay", status: "ok", content: "1" },
      { type: "result", callId: "x~2", name: "pay", status: "ok", content: "2" },
    ];
    const [asked, one, two] = body(openAiChat, { history }).messages;
    expect(asked.tool_calls.map(({ id }: { id: string }) => id)).toEqual(["x", "x~2"]);
    expect([one.tool_call_id, two.tool_call_id]).toEqual(["x", "x~2"]);
  });

  it("converts ids that the server would reject, equally for call and result (F27)", () => {
    const id = `call_${"x".repeat(60)}`;
    const history: Entry[] = [
      { type: "assistant", parts: [{ type: "call", id, name: "pay", input: {} }] },
      { type: "result", callId: id, name: "pay", status: "ok", content: "1" },
    ];
    for (const [wire, form] of [
      [openAiChat, /^call_x+_[a-z0-9]{9}$/],
      [createChatWire({ callIds: "nine" }), /^[a-z0-9]{9}$/],
    ] as const) {
      const [asked, result] = body(wire, { history }).messages;
      expect(result.tool_call_id).toMatch(form);
      expect(result.tool_call_id.length).toBeLessThanOrEqual(40);
      expect(asked.tool_calls[0].id).toBe(result.tool_call_id);
    }
  });

  it("servers without image support get text only; omitted media are named (S2-52)", () => {
    const { messages } = body(createChatWire({ images: false, files: false }), { history: conversation });
    expect(messages[1].content.every(({ type }: { type: string }) => type === "text")).toBe(true);
    expect(messages[1].content[1].text).toBe("[image image/png]");
  });

  it("arguments that are not JSON are wrapped for servers whose templates parse them (D-07)", () => {
    const { messages } = body(lenient, { history: conversation });
    expect(messages[2].tool_calls[1].function.arguments).toBe('{"_raw":"{\\"amount\\":"}');
  });
});

describe("the names of tools", () => {
  const named = (name: string): ToolSpec => ({ ...pay, name });

  it("are encoded to names that the API allows, without collisions, and decoded in calls (S1-07)", () => {
    const names = ["fs.read", "fs read", "fs_read", "日本", "x".repeat(100), "x".repeat(101), "ok-1"];
    const tools: { function: { name: string } }[] = body(openAiChat, { tools: names.map(named) }).tools;
    const sent = tools.map((tool) => tool.function.name);
    expect(new Set(sent).size).toBe(names.length);
    for (const name of sent) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    const { calls } = callsIn(openAiChat, [
      ...sent.map((name, index) => pieces({ index, id: `c${index}`, function: { name, arguments: "{}" } })),
      finish("tool_calls"),
      "[DONE]",
    ]);
    expect(calls.map(({ name }) => name)).toEqual(names);
    const history: Entry[] = [
      { type: "assistant", parts: [{ type: "call", id: "a", name: "fs.read", input: {} }] },
    ];
    expect(body(openAiChat, { history }).messages[0].tool_calls[0].function.name).toBe(sent[0]);
  });
});

describe("the schema of a tool", () => {
  const parameters = (input: ToolSpec["input"]) =>
    body(openAiChat, { tools: [{ ...pay, input }] }).tools[0].function.parameters;

  it("has an object with properties at its root (S1-04)", () => {
    expect(parameters({})).toEqual({ type: "object", properties: {} });
    expect(parameters({ $schema: "x", type: "object" })).toEqual({ type: "object", properties: {} });
  });

  it("is unchanged if the API accepts it, including limits (S1-04)", () => {
    const input = {
      type: "object",
      properties: {
        a: { type: "string", minLength: 2 },
        b: { anyOf: [{ type: "string" }, { type: "null" }] },
      },
      required: ["a"],
      additionalProperties: false,
    };
    expect(parameters(input)).toEqual(input);
  });

  it("with alternatives at its root has all their fields, and requires the fields that all of them require (S1-04)", () => {
    const input = {
      anyOf: [
        {
          type: "object",
          properties: { by: { const: "id" }, id: { type: "number" } },
          required: ["by", "id"],
        },
        {
          type: "object",
          properties: { by: { const: "name" }, name: { type: "string" } },
          required: ["by", "name"],
        },
      ],
    };
    const { properties, ...rest } = parameters(input);
    expect(Object.keys(properties)).toEqual(["by", "id", "name"]);
    expect(rest).toEqual({ type: "object", required: ["by"] });
  });

  it("that refers to a definition, or to itself, is resolved at its root (S1-04)", () => {
    const $defs = {
      node: { type: "object", properties: { next: { $ref: "#/$defs/node" } }, required: ["next"] },
    };
    const input = { $ref: "#/$defs/node", $defs };
    expect(parameters(input)).toEqual({ ...$defs.node, $defs });
    expect(parameters({ $defs: { loop: { $ref: "#/$defs/loop" } }, $ref: "#/$defs/loop" }).type).toBe(
      "object",
    );
  });

  it("adds items to every array (S1-04)", () => {
    const input = {
      type: "object",
      properties: { tags: { type: "array" }, deep: { items: { type: ["array", "null"] } } },
    };
    expect(parameters(input).properties).toEqual({
      tags: { type: "array", items: {} },
      deep: { items: { type: ["array", "null"], items: {} } },
    });
  });
});

describe("a stream of chat completions", () => {
  it("text is passed on immediately, delta by delta (S1-05) (S1-06)", () => {
    const reader = openAiChat.reader();
    const say = (content: string | null) => reader.read({ data: JSON.stringify(delta({ content })) });
    expect(say(null)).toEqual([]);
    expect(say("Hel")).toEqual([{ type: "text", text: "Hel" }]);
    expect(say("lo")).toEqual([{ type: "text", text: "lo" }]);
    expect(say(" ")).toEqual([{ type: "text", text: " " }]);
    expect(say("\n\n")).toEqual([{ type: "text", text: "\n\n" }]);
  });

  it("the usage of a chunk without choices is counted (D-09)", () => {
    const usage = {
      prompt_tokens: 9,
      completion_tokens: 4,
      total_tokens: 13,
      prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 5 },
      completion_tokens_details: { reasoning_tokens: 2 },
    };
    expect(read(openAiChat, [{ choices: [], usage }, { choices: [] }])).toEqual([
      {
        type: "usage",
        usage: { inputTokens: 9, outputTokens: 4, cachedTokens: 3, cacheWriteTokens: 5, reasoningTokens: 2 },
      },
    ]);
  });

  it("usage is found in a choice, in x_groq, next to the last choice, with costs and other names (D-09)", () => {
    const usage = { prompt_tokens: 5, completion_tokens: 2, cached_tokens: 1, cost: 0.5 };
    const found = [{ type: "usage", usage: { inputTokens: 5, outputTokens: 2, cachedTokens: 1, cost: 0.5 } }];
    const only = (chunks: readonly Chunk[]) => chunks.filter(({ type }) => type === "usage");
    expect(only(read(lenient, [{ choices: [{ index: 0, delta: {}, usage }] }]))).toEqual(found);
    expect(only(read(lenient, [{ ...finish("stop"), x_groq: { usage } }]))).toEqual(found);
    expect(only(read(lenient, [{ ...finish("stop"), usage }]))).toEqual(found);
    expect(only(read(lenient, [{ ...finish("stop"), usage: { prompt_tokens: "many" } }]))).toEqual([]);
  });

  it("reasoning counted separately is added to the output (D-09)", () => {
    const usage = {
      prompt_tokens: 12,
      completion_tokens: 1,
      total_tokens: 303,
      completion_tokens_details: { reasoning_tokens: 290 },
    };
    expect(assembled(read(lenient, [{ choices: [], usage }])).usage).toMatchObject({ outputTokens: 291 });
  });

  it("arguments in the first piece are kept, and complete calls in one piece are read (D-05)", () => {
    const first = pieces({ index: 0, id: "a", function: { name: "pay", arguments: '{"amo' } });
    const rest = pieces({ index: 0, function: { arguments: 'unt":1}' } });
    const whole = pieces({ index: 0, id: "a", function: { name: "pay", arguments: '{"amount":1}' } });
    const expected = { calls: [{ id: "a", name: "pay", input: { amount: 1 } }], finish: "tool_calls" };
    expect(callsIn(openAiChat, [first, rest, finish("tool_calls"), "[DONE]"])).toEqual(expected);
    expect(callsIn(openAiChat, [whole, finish("tool_calls"), "[DONE]"])).toEqual(expected);
  });

  it("arguments are text until they are complete (S1-09)", () => {
    expect(
      read(openAiChat, [pieces({ index: 0, id: "a", function: { name: "pay", arguments: '{"a' } })]),
    ).toEqual([
      { type: "call_start", index: 0, id: "a", name: "pay" },
      { type: "call_delta", index: 0, text: '{"a' },
    ]);
  });

  it("any interleaving and any split of parallel calls produces the same calls (S1-07) (S1-08) (F29)", () => {
    const call = fc.record({
      name: fc.constantFrom("pay", "search"),
      text: fc
        .dictionary(
          fc.string().map((key) => `_${key}`),
          fc.string({ unit: "binary" }),
        )
        .map((input) => JSON.stringify(input)),
    });
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 60 }),
        fc.boolean(),
        fc.constantFrom(openAiChat, lenient),
        (calls, order, isRepeated, wire) => {
          const left = calls.map(({ text }) => text);
          const head = (index: number) => ({ id: `c${index}`, function: { name: calls[index]?.name } });
          const payloads = calls.map((_, index) => pieces({ index: index * 3, ...head(index) }));
          const give = (index: number, length: number) => {
            const text = left[index] ?? "";
            if (text === "") return;
            const { id, function: named } = head(index);
            const said = { arguments: text.slice(0, length) };
            payloads.push(
              pieces({
                index: index * 3,
                ...(isRepeated ? { id, function: { ...named, ...said } } : { function: said }),
              }),
            );
            left[index] = text.slice(length);
          };
          for (const choice of order) give(choice % calls.length, 1 + (choice % 5));
          for (const index of calls.keys()) give(index, Number.POSITIVE_INFINITY);
          const made = callsIn(wire, [...payloads, finish("tool_calls"), "[DONE]"]);
          expect(made.calls).toEqual(
            calls.map(({ name, text }, index) => ({ id: `c${index}`, name, input: JSON.parse(text) })),
          );
        },
      ),
    );
  });

  it("that starts over with a new id is inconsistent; nothing of it is used (F15)", () => {
    const first = [delta({ role: "assistant" }), delta({ content: "I have pa" }), delta({ content: "id" })];
    const second = [delta({ role: "assistant" }), delta({ content: "Paid." }), finish("stop"), "[DONE]"];
    const withId = (id: string) => (payload: string | object) =>
      typeof payload === "string" ? payload : { id, ...payload };
    const spliced = [...first.map(withId("a")), ...second.map(withId("b"))];
    for (const wire of [openAiChat, lenient])
      expect(thrownBy(() => read(wire, spliced))).toMatchObject({ code: "stream_inconsistent" });
  });

  it("that replaces a call before its arguments are complete is inconsistent, with or without ids (F15)", () => {
    const half = pieces({ index: 0, id: "a", function: { name: "pay", arguments: '{"amount":1' } });
    const next = pieces({ index: 0, id: "b", function: { name: "pay", arguments: '{"amount":10}' } });
    expect(thrownBy(() => read(lenient, [half, next]))).toMatchObject({ code: "stream_inconsistent" });
  });

  it("the last finish reason that is one counts (D-06)", () => {
    const message = assembled(
      read(openAiChat, [delta({ content: "Hi" }, "length"), finish(null), finish(""), "[DONE]"]),
    );
    expect(message.stopReason).toBe("length");
  });

  it("the calls decide if a server sends stop with calls or tool_calls without any (D-10) (S1-10)", () => {
    const call = pieces({ index: 0, id: "a", function: { name: "pay", arguments: "{}" } });
    for (const wire of [openAiChat, lenient]) {
      expect(assembled(read(wire, [call, finish("stop"), "[DONE]"])).stopReason).toBe("tool_calls");
      expect(
        assembled(read(wire, [delta({ content: "Hi" }), finish("tool_calls"), "[DONE]"])).stopReason,
      ).toBe("end");
    }
  });

  it.each([
    ["stop", "end"],
    ["length", "length"],
    ["content_filter", "content_filter"],
    ["SAFETY", "content_filter"],
    ["eos", "end"],
    ["refusal", "refusal"],
    ["abort", "other"],
    ["something_new", "other"],
    ["constructor", "other"],
  ])("a finish reason %s is %s (S1-30)", (reason, expected) => {
    expect(assembled(read(lenient, [delta({ content: "Hi" }, reason), "[DONE]"])).stopReason).toBe(expected);
  });

  it("a limit or a filter stays one when there are calls, so that they do not run (S1-30)", () => {
    const call = pieces({ index: 0, id: "a", function: { name: "pay", arguments: "{}" } });
    for (const reason of ["length", "content_filter", "something_new"]) {
      const { stopReason: told } = assembled(read(openAiChat, [call, finish(reason), "[DONE]"]));
      expect(told).toBe(reason === "something_new" ? "other" : reason);
    }
  });

  it("a refusal is text and a filter (S1-30)", () => {
    const message = assembled(
      read(openAiChat, [delta({ refusal: "I can" }), delta({ refusal: "not." }), finish("stop"), "[DONE]"]),
    );
    expect(buildParts(message)).toEqual([{ type: "text", text: "I cannot." }]);
    expect(message.stopReason).toBe("refusal");
  });

  it("OpenAI's own needs a finish reason and [DONE]; without either it has no finish (S1-30)", () => {
    const call = pieces({ index: 0, id: "a", function: { name: "pay", arguments: "{}" } });
    for (const payloads of [
      [call],
      [call, finish("tool_calls")],
      [call, "[DONE]"],
      [delta({ content: "Hi" }), "[DONE]"],
    ])
      expect(assembled(read(openAiChat, payloads)).stopReason).toBeUndefined();
  });

  it("nothing is read after [DONE] (S1-30)", () => {
    const chunks = read(openAiChat, [
      delta({ content: "Hi" }, "stop"),
      "[DONE]",
      delta({ content: "more" }),
      "[DONE]",
    ]);
    expect(chunks).toEqual([
      { type: "text", text: "Hi" },
      { type: "finish", reason: "end" },
    ]);
  });

  it("other choices are ignored (S1-05)", () => {
    const two = {
      choices: [1, 0].map((index) => ({ index, delta: { content: `${index}` }, finish_reason: "stop" })),
    };
    expect(buildParts(assembled(read(openAiChat, [two, "[DONE]"])))).toEqual([{ type: "text", text: "0" }]);
  });
});

describe("a stream of a compatible server", () => {
  const weather = (text: string, more: object = {}) => ({
    ...more,
    function: { name: "weather", arguments: text },
  });

  it("may end after its finish reason, without [DONE]; usage may follow (S1-30)", () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    const message = assembled(
      read(lenient, [delta({ content: "Hi" }), finish("stop"), { choices: [], usage }]),
    );
    expect(message.stopReason).toBe("end");
    expect(message.usage).toEqual({ inputTokens: 1, outputTokens: 1 });
  });

  it("may omit the finish reason if [DONE] arrives and the calls are complete (D-10)", () => {
    const finishOf = (...payloads: (string | object)[]) => assembled(read(lenient, payloads)).stopReason;
    expect(finishOf(pieces(weather("{}")), finish(""), "[DONE]")).toBe("tool_calls");
    expect(finishOf(pieces(weather("{}")), "[DONE]")).toBe("tool_calls");
    expect(finishOf(delta({ content: "Hi" }), "[DONE]")).toBe("end");
    expect(finishOf(pieces(weather('{"amount": 1')), "[DONE]")).toBeUndefined();
    expect(finishOf(pieces(weather("{}")))).toBeUndefined();
    expect(finishOf("[DONE]")).toBeUndefined();
  });

  it.each([
    ["no ids, an index each", [weather('{"a":1}', { index: 0 }), weather('{"a":2}', { index: 1 })]],
    ["no ids and no index", [weather('{"a":1}'), weather('{"a":2}')]],
    ["empty ids", [weather('{"a":1}', { id: "" }), weather('{"a":2}', { id: "" })]],
    ["ids and no index", [weather('{"a":1}', { id: "x" }), weather('{"a":2}', { id: "y" })]],
    [
      "one index for all",
      [weather('{"a":1}', { index: 0, id: "x" }), weather('{"a":2}', { index: 0, id: "y" })],
    ],
    [
      "one id for all",
      [weather('{"a":1}', { index: 0, id: "x" }), weather('{"a":2}', { index: 1, id: "x" })],
    ],
    ["one id and no index", [weather('{"a":1}', { id: "x" }), weather('{"a":2}', { id: "x" })]],
    [
      "an index that jumps",
      [weather('{"a":1}', { index: 3, id: "x" }), weather('{"a":2}', { index: 9, id: "y" })],
    ],
  ])("with %s its whole calls stay apart, in one piece or in two (F27) (F28) (F29)", (_, given) => {
    for (const payloads of [[pieces(...given)], given.map((call) => pieces(call))]) {
      const { calls, finish: told } = callsIn(lenient, [...payloads, finish("stop")]);
      expect(calls.map(({ input }) => input)).toEqual([{ a: 1 }, { a: 2 }]);
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
      expect(told).toBe("tool_calls");
    }
  });

  it.each<[string, object, { readonly [field: string]: unknown; readonly function?: object }]>([
    ["no index", {}, {}],
    ["the id again", { id: "x" }, { id: "x" }],
    ["an empty id and name", { id: "x", index: 0 }, { id: "", index: 0, function: { name: "" } }],
    ["another index, nothing else", { id: "x", index: 0 }, { index: 1 }],
    ["another index and the id", { id: "x", index: 0 }, { index: 1, id: "x" }],
    ["a new id in every piece", { id: "x", index: 0 }, { index: 0, id: "z" }],
  ])("pieces with %s continue their call (F29)", (_, first, later) => {
    const more = (text: string) => pieces({ ...later, function: { ...later.function, arguments: text } });
    const { calls } = callsIn(lenient, [
      pieces(weather("", first)),
      more('{"a"'),
      more(":1}"),
      finish("tool_calls"),
    ]);
    expect(calls.map(({ name, input }) => ({ name, input }))).toEqual([{ name: "weather", input: { a: 1 } }]);
  });

  it("a late id or name belongs to the call (F27)", () => {
    const late = [
      pieces({ index: 0, id: "x" }),
      pieces({ index: 0, function: { name: "pay", arguments: "{}" } }),
    ];
    expect(callsIn(lenient, [...late, finish("stop")]).calls).toEqual([{ id: "x", name: "pay", input: {} }]);
  });

  it("arguments may be an object, and calls in the legacy form (S1-09)", () => {
    const asJson = pieces({ index: 0, id: "x", function: { name: "pay", arguments: { amount: 1 } } });
    expect(callsIn(lenient, [asJson, finish("stop")]).calls[0]?.input).toEqual({ amount: 1 });
    const old = [
      delta({ function_call: { name: "pay", arguments: '{"amount"' } }),
      delta({ function_call: { arguments: ":1}" } }),
      finish("function_call"),
    ];
    expect(callsIn(lenient, old)).toEqual({
      calls: [{ id: "made_0", name: "pay", input: { amount: 1 } }],
      finish: "tool_calls",
    });
  });

  it.each([
    "reasoning_content",
    "reasoning",
  ])("reasoning in %s is read, and sent back there (S2-52)", (field) => {
    const payloads = [
      delta({ [field]: "Hm", content: null }),
      delta({ [field]: "." }),
      delta({ content: "Hi" }, "stop"),
    ];
    const entry: AssistantEntry = {
      type: "assistant",
      parts: buildParts(assembled(read(lenient, payloads))),
    };
    expect(entry.parts).toMatchObject([
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Hi" },
    ]);
    const message = { role: "assistant", content: "Hi" };
    expect(body(lenient, { history: [entry] }).messages).toEqual([{ ...message, [field]: "Hm." }]);
    for (const other of [
      openAiChat,
      createChatWire({ name: "other" }),
      createChatWire({ replayReasoning: false }),
    ])
      expect(body(other, { history: [entry] }).messages).toEqual([message]);
  });

  it("reasoning details are joined, emitted once, and sent back unchanged (S2-52)", () => {
    const detail = (fields: object) => [{ type: "reasoning.text", index: 0, ...fields }];
    const encrypted = { type: "reasoning.encrypted", data: "abc", index: 1 };
    const payloads = [
      delta({ reasoning: "Let ", reasoning_details: detail({ text: "Let " }) }),
      delta({ reasoning: "me.", reasoning_details: detail({ text: "me." }) }),
      delta({ reasoning_details: detail({ signature: "sig" }) }),
      delta({ reasoning_details: [encrypted] }),
      delta({ content: "Hi" }, "stop"),
      "[DONE]",
    ];
    const entry: AssistantEntry = {
      type: "assistant",
      parts: buildParts(assembled(read(lenient, payloads))),
    };
    expect(entry.parts[0]).toMatchObject({ type: "reasoning", text: "Let me." });
    expect(body(lenient, { history: [entry] }).messages[0]).toEqual({
      role: "assistant",
      content: "Hi",
      reasoning: "Let me.",
      reasoning_details: [...detail({ text: "Let me.", signature: "sig" }), encrypted],
    });
  });

  it("thinking blocks of a gateway are joined and sent back with their signatures (S2-52)", () => {
    const block = (thinking: string, signature = "") => ({
      reasoning_content: thinking,
      thinking_blocks: [{ type: "thinking", thinking, signature }],
    });
    const redacted = { type: "redacted_thinking", data: "abc" };
    const payloads = [
      delta(block("Let ")),
      delta(block("me.")),
      delta(block("", "sig")),
      delta(block("More.")),
      delta(block("", "sig 2")),
      delta({ thinking_blocks: [redacted] }),
      delta({ content: "Hi" }, "stop"),
      "[DONE]",
    ];
    const parts = buildParts(assembled(read(lenient, payloads)));
    expect(body(lenient, { history: [{ type: "assistant", parts }] }).messages[0]).toEqual({
      role: "assistant",
      content: "Hi",
      reasoning_content: "Let me.More.",
      thinking_blocks: [
        { type: "thinking", thinking: "Let me.", signature: "sig" },
        { type: "thinking", thinking: "More.", signature: "sig 2" },
        redacted,
      ],
    });
    expect(body(openAiChat, { history: [{ type: "assistant", parts }] }).messages[0]).toEqual({
      ...{ role: "assistant", content: "Hi" },
    });
  });

  it("reasoning as an object or a list is read, too (S2-52)", () => {
    for (const reasoning of [{ content: "Hm." }, [{ text: "Hm" }, { summary: "." }]]) {
      const parts = buildParts(
        assembled(read(lenient, [delta({ reasoning }), delta({ content: "Hi" }, "stop")])),
      );
      expect(parts).toMatchObject([
        { type: "reasoning", text: "Hm." },
        { type: "text", text: "Hi" },
      ]);
    }
  });

  it("thoughts in a list of content are reasoning, and go back as a list (S2-52)", () => {
    const thought = { type: "thinking", thinking: [{ type: "text", text: "Hm." }] };
    const payloads = [
      delta({ content: [thought] }),
      delta({ content: [{ type: "text", text: "Hi" }] }, "stop"),
    ];
    const entry: AssistantEntry = {
      type: "assistant",
      parts: buildParts(assembled(read(lenient, payloads))),
    };
    expect(body(lenient, { history: [entry] }).messages[0].content).toEqual([
      thought,
      { type: "text", text: "Hi" },
    ]);
  });

  it("a signature on a call is sent back with it, and to no other provider (S2-52)", () => {
    const extra_content = { google: { thought_signature: "sig" } };
    const payloads = [pieces(weather("{}", { index: 0, id: "x", extra_content })), finish("tool_calls")];
    const parts = buildParts(assembled(read(lenient, payloads)));
    const history: Entry[] = [{ type: "assistant", parts }];
    expect(parts[0]?.type === "call" && getOwnData("openai-compatible", parts[0].opaque)).toEqual({
      extra_content,
    });
    expect(body(lenient, { history }).messages[0].tool_calls[0].extra_content).toEqual(extra_content);
    expect(body(openAiChat, { history }).messages[0].tool_calls[0].extra_content).toBeUndefined();
  });
});

describe("a broken stream of chat completions", () => {
  it.each(["{", "null", "[]", '"text"'])("%s is a bad chunk (D-07)", (data) => {
    expect(thrownBy(() => openAiChat.reader().read({ data }))).toMatchObject({
      code: "bad_chunk",
      retryable: true,
    });
  });

  it.each([
    [{ message: "Overloaded", type: "overloaded_error" }, "model_overloaded", true],
    [{ message: "Slow down", type: "rate_limit_exceeded" }, "model_rate_limited", true],
    [{ message: "You exceeded your quota", code: "insufficient_quota" }, "model_rate_limited", false],
    [{ message: "Upstream failed", code: 502 }, "model_overloaded", true],
    [{ message: "No", code: 401 }, "model_auth", false],
    [{ message: "Bad field", type: "invalid_request_error" }, "model_rejected", false],
    [{ message: "Gone", type: "invalid_request_error", code: "model_not_found" }, "model_not_found", false],
    [{ message: "Too long", code: "context_length_exceeded" }, "context_overflow", false],
    [{ message: "Prompt was filtered", code: "content_filter" }, "content_filter", false],
    [{ message: "The server had an error", type: "server_error" }, "model_failed", true],
    ["the worker died", "model_failed", true],
  ])("the error %j inside it is %s (S1-30)", (error, code, retryable) => {
    for (const payload of [{ error }, { ...finish("error"), error }])
      expect(thrownBy(() => read(lenient, [payload]))).toMatchObject({ code, retryable });
    expect(thrownBy(() => openAiChat.fromJson({ error }))).toMatchObject({ code, retryable });
    const named = { event: "error", data: JSON.stringify(error) };
    expect(thrownBy(() => openAiChat.reader().read(named))).toMatchObject({ code, retryable });
  });

  it("a message of an error is cut, and keys in it are masked (S1-30)", () => {
    const { message } = thrownBy(() =>
      read(lenient, [{ error: { message: `Key sk-abcdefghijklmnop ${"x".repeat(9999)}` } }]),
    );
    expect(message.length).toBeLessThan(600);
    expect(message).not.toContain("abcdefgh");
  });

  it("a finish reason that is a failure is one (S1-30)", () => {
    expect(thrownBy(() => read(lenient, [finish("error")])).code).toBe("model_failed");
    expect(thrownBy(() => read(lenient, [finish("insufficient_system_resource")])).code).toBe(
      "model_overloaded",
    );
  });

  it("any JSON objects are read, or fail with a named error (D-07)", () => {
    const field = fc.constantFrom(
      "choices",
      "index",
      "delta",
      "tool_calls",
      "function",
      "name",
      "arguments",
      "id",
      "content",
      "reasoning",
      "reasoning_details",
      "usage",
      "finish_reason",
      "message",
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6, withCrossShrink: true },
        fc.constantFrom(null, 0, 1, -1, "", "x", "{}", true),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(field, tie("value"), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(fc.array(value, { maxLength: 5 }), (values) => {
        const choices = values.map((fields) => ({ choices: [{ delta: fields }] }));
        for (const wire of [openAiChat, lenient]) {
          try {
            assembled(read(wire, [...choices, ...values.map((fields) => JSON.stringify(fields)), "[DONE]"]));
            wire.fromJson({ choices: [{ message: values[0] }] });
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(AgentError);
          }
        }
      }),
    );
  });
});

describe("a non-streamed chat completion", () => {
  const answer = (message: object, finish_reason: string | null) => ({
    choices: [{ index: 0, message, finish_reason }],
  });

  it("calls without ids or with the same id stay apart (F27) (F28)", () => {
    const call = { type: "function", function: { name: "pay", arguments: '{"amount":1}' } };
    for (const more of [{}, { id: "x" }]) {
      const tool_calls = [1, 2].map((amount) => ({
        ...call,
        ...more,
        function: { ...call.function, arguments: JSON.stringify({ amount }) },
      }));
      const message = assembled(lenient.fromJson(answer({ content: null, tool_calls }, "tool_calls")));
      expect(buildParts(message)).toMatchObject([{ input: { amount: 1 } }, { input: { amount: 2 } }]);
    }
  });

  it("without a finish reason or choices has no finish on OpenAI's own wire (S1-30)", () => {
    expect(openAiChat.fromJson(answer({ content: "Hi" }, null)).at(-1)?.type).toBe("text");
    expect(lenient.fromJson(answer({ content: "Hi" }, null)).at(-1)).toEqual({
      type: "finish",
      reason: "end",
    });
    expect(lenient.fromJson({ choices: [] })).toEqual([]);
    expect(thrownBy(() => openAiChat.fromJson("<html>")).code).toBe("bad_chunk");
  });

  it("a message survives a round trip (S3-19)", () => {
    const part = fc.oneof(
      fc.record({ type: fc.constant("text" as const), text: fc.string({ minLength: 1, unit: "binary" }) }),
      fc.record({
        type: fc.constant("call" as const),
        id: fc.uuid(),
        name: fc.constantFrom("pay", "search", "__proto__"),
        input: fc.dictionary(fc.constantFrom("a", "b"), fc.string({ unit: "binary" })),
      }),
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const [message] = body(openAiChat, { history: [{ type: "assistant", parts }] }).messages;
        const made = buildParts(assembled(openAiChat.fromJson(answer(message, "stop"))));
        const text = parts.map((said) => (said.type === "text" ? said.text : "")).join("");
        const calls = parts.filter((said) => said.type === "call");
        expect(JSON.stringify(made)).toBe(
          JSON.stringify([...(text ? [{ type: "text", text }] : []), ...calls]),
        );
      }),
    );
  });
});

describe("a request that is too long", () => {
  it.each([
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "context_length_exceeded",
    "the request exceeds the available context size. try increasing it",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "Please reduce the length of the messages or completion.",
    "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    "prompt too long; exceeded max context length by 4 tokens",
    "`inputs` tokens + `max_new_tokens` must be <= 4097.",
    "The number of tokens to keep from the initial prompt is greater than the context length",
    "Your input exceeds the context window of this model.",
    "Invalid request: Your request exceeded model token limit: 131072",
  ])("is recognized by %s (S1-30)", (message) => {
    expect(openAiChat.isOverflow(message)).toBe(true);
  });

  it.each([
    "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.",
    "Rate limit reached for requests",
    "Invalid value for max_tokens",
    "",
  ])("is not %s (S1-30)", (message) => {
    expect(openAiChat.isOverflow(message)).toBe(false);
  });
});
