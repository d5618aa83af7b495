import { describe, expect, it } from "vitest";
import { AgentError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { addChunk, buildParts, createMessageBuilder } from "../kernel/calls/message-builder.ts";
import {
  type AssistantEntry,
  type AssistantPart,
  type CallPart,
  type Entry,
  getText,
} from "../kernel/history.ts";
import type { Chunk, ModelRequest, ToolSpec } from "../kernel/model.ts";
import { isStrict, toFunctionSchema } from "./openai-responses/tools.ts";
import { openAiResponses } from "./openai-responses.ts";
import { tagData, type WireSettings } from "./wire.ts";

type Item = { readonly [field: string]: unknown };

const own = (data: Json): Json => tagData("openai-responses", data);

function body(
  request: Partial<ModelRequest> = {},
  settings: Partial<WireSettings> = {},
): Item & { input: Item[] } {
  return JSON.parse(
    openAiResponses.toRequest(
      { instructions: "", history: [], tools: [], toolChoice: "auto", thinking: false, ...request },
      { model: "gpt-5-mini", stream: true, ...settings },
    ),
  );
}

const inputOf = (...history: Entry[]): readonly Item[] => body({ history }).input;
const assistant = (...parts: AssistantPart[]): AssistantEntry => ({ type: "assistant", parts });

const tool = (name: string, input: ToolSpec["input"] = { type: "object", properties: {} }): ToolSpec => ({
  name,
  description: `Does ${name}`,
  input,
});

function read(...events: Item[]): Chunk[] {
  const reader = openAiResponses.reader();
  return events.flatMap((event) => [...reader.read({ data: JSON.stringify(event) })]);
}

function message(chunks: readonly Chunk[]): { entry: AssistantEntry; finish: string | undefined } {
  const open = createMessageBuilder((id, index) => id ?? `made_${index}`);
  for (const chunk of chunks) addChunk(open, chunk);
  return { entry: assistant(...buildParts(open)), finish: open.stopReason };
}

function failure(act: () => unknown): AgentError {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof AgentError) return thrown;
    throw thrown;
  }
  throw new Error("Nothing was thrown.");
}

const completed = (response: Item = {}): Item => ({
  type: "response.completed",
  response: { status: "completed", ...response },
});
const itemDone = (output_index: number, item: Item): Item => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const functionCall = (more: Item = {}): Item => ({
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "pay",
  arguments: '{"amount":10}',
  status: "completed",
  ...more,
});

describe("a request", () => {
  it("has the whole conversation as items, in order (S1-30)", () => {
    const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "secret" };
    const history: Entry[] = [
      {
        type: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image", mediaType: "image/png", data: "AAAA" },
          { type: "image", mediaType: "image/png", url: "https://a.example/b.png" },
          { type: "file", mediaType: "application/pdf", data: "BBBB" },
          { type: "file", mediaType: "application/pdf", url: "https://a.example/b.pdf" },
        ],
      },
      assistant(
        { type: "reasoning", text: "Let me look.", opaque: own(reasoning) },
        { type: "text", text: "One moment.", opaque: own({ id: "msg_1", phase: "commentary" }) },
        { type: "call", id: "call_1", name: "look", input: { at: "left" }, opaque: own({ id: "fc_1" }) },
        { type: "call", id: "call_2~2", providerId: "call_2", name: "look", input: {}, raw: "{half" },
      ),
      { type: "result", callId: "call_1", name: "look", status: "ok", content: "A cat." },
      {
        type: "result",
        callId: "call_2~2",
        name: "look",
        status: "error",
        content: "The arguments are not JSON.",
      },
    ];
    expect(body({ instructions: "Be brief.", history })).toEqual({
      model: "gpt-5-mini",
      stream: true,
      store: false,
      instructions: "Be brief.",
      include: ["reasoning.encrypted_content"],
      input: [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "What is this?" },
            { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" },
            { type: "input_image", image_url: "https://a.example/b.png", detail: "auto" },
            { type: "input_file", filename: "file.pdf", file_data: "data:application/pdf;base64,BBBB" },
            { type: "input_file", file_url: "https://a.example/b.pdf" },
          ],
        },
        reasoning,
        {
          type: "message",
          role: "assistant",
          id: "msg_1",
          phase: "commentary",
          content: [{ type: "output_text", text: "One moment.", annotations: [] }],
        },
        { type: "function_call", id: "fc_1", call_id: "call_1", name: "look", arguments: '{"at":"left"}' },
        { type: "function_call", call_id: "call_2", name: "look", arguments: "{half" },
        { type: "function_call_output", call_id: "call_1", output: "A cat." },
        { type: "function_call_output", call_id: "call_2", output: "The arguments are not JSON." },
      ],
    });
  });

  it("carries settings, tool choice and the fields of extra (S1-30)", () => {
    const tools = [tool("pay")];
    const settings = {
      stream: false,
      maxOutputTokens: 100,
      extra: { store: true, tools: [{ type: "web_search" }], include: ["web_search_call.action.sources"] },
    };
    expect(body({ tools, toolChoice: "required", thinking: true }, settings)).toEqual({
      model: "gpt-5-mini",
      stream: false,
      store: true,
      max_output_tokens: 100,
      reasoning: { effort: "medium" },
      tool_choice: "required",
      include: ["web_search_call.action.sources", "reasoning.encrypted_content"],
      tools: [
        {
          type: "function",
          name: "pay",
          description: "Does pay",
          parameters: { type: "object", properties: {} },
          strict: false,
        },
        { type: "web_search" },
      ],
      input: [],
    });
    expect(body({ tools, toolChoice: "none" }).tool_choice).toBe("none");
    expect(body({ tools })).not.toHaveProperty("tool_choice");
    expect(body({ toolChoice: "required" })).not.toHaveProperty("tool_choice");
  });

  it("requests encrypted reasoning only where it is useful, and never from a model without it (S1-30)", () => {
    const history: Entry[] = [assistant({ type: "reasoning", text: "", opaque: own({ id: "rs_1" }) })];
    expect(body()).not.toHaveProperty("include");
    expect(body({ thinking: true }).include).toEqual(["reasoning.encrypted_content"]);
    expect(body({ history }).include).toEqual(["reasoning.encrypted_content"]);
    expect(body({ history, thinking: true }, { model: "gpt-4o" })).not.toHaveProperty("include");
  });

  it("drops reasoning that the provider cannot read, and the ids that need it (S1-30)", () => {
    const items = inputOf(
      assistant(
        { type: "reasoning", text: "Hm.", opaque: own({ type: "reasoning", id: "rs_1", summary: [] }) },
        { type: "text", text: "Yes.", opaque: own({ id: "msg_1", phase: "final_answer" }) },
        { type: "call", id: "c", name: "pay", input: {}, opaque: own({ id: "fc_1" }) },
      ),
    );
    expect(items).toEqual([
      {
        type: "message",
        role: "assistant",
        phase: "final_answer",
        content: [{ type: "output_text", text: "Yes.", annotations: [] }],
      },
      { type: "function_call", call_id: "c", name: "pay", arguments: "{}" },
    ]);
  });

  it("drops reasoning that no item follows (F21)", () => {
    const item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "secret" };
    expect(inputOf(assistant({ type: "reasoning", text: "Hm.", opaque: own(item) }))).toEqual([]);
  });

  it("keeps another provider's text and drops its data and reasoning (F22)", () => {
    const theirs = tagData("anthropic", { signature: "s", id: "x" });
    const items = inputOf(
      assistant(
        { type: "reasoning", text: "Hm.", opaque: theirs },
        { type: "reasoning", text: "Hm again." },
        { type: "text", text: "Yes.", opaque: theirs },
        { type: "opaque", data: theirs },
        { type: "call", id: "toolu_1", name: "pay", input: {}, opaque: theirs },
      ),
    );
    expect(items).toEqual([
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "Yes.", annotations: [] }],
      },
      { type: "function_call", call_id: "toolu_1", name: "pay", arguments: "{}" },
    ]);
  });

  it("sends a summary as user text, and unsupported media as a note (S1-30)", () => {
    expect(
      inputOf(
        { type: "summary", text: "They met." },
        {
          type: "user",
          content: [
            { type: "file", mediaType: "audio/mp3", data: "AAAA" },
            { type: "image", mediaType: "image/svg+xml", data: "AAAA" },
          ],
        },
      ),
    ).toEqual([
      { type: "message", role: "user", content: "Summary of the conversation so far:\nThey met." },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "[file audio/mp3]" },
          { type: "input_text", text: "[image image/svg+xml]" },
        ],
      },
    ]);
  });

  it("carries images in results, and the error if a result has no text (S1-30)", () => {
    const call: CallPart = { type: "call", id: "c", name: "look", input: {} };
    const [, shown] = inputOf(assistant(call), {
      type: "result",
      callId: "c",
      name: "look",
      status: "ok",
      content: [
        { type: "text", text: "Here." },
        { type: "image", mediaType: "image/png", data: "AAAA" },
      ],
    });
    expect(shown?.output).toEqual([
      { type: "input_text", text: "Here." },
      { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" },
    ]);
    const error = { code: "tool_failed", message: "It broke." };
    const [, failed] = inputOf(assistant(call), {
      type: "result",
      callId: "c",
      name: "look",
      status: "error",
      content: "",
      error,
    });
    expect(failed?.output).toBe("It broke.");
  });

  it("distinguishes two calls with the same provider id, and shortens ids that are too long (F28)", () => {
    const long = "x".repeat(80);
    const items = inputOf(
      assistant(
        { type: "call", id: "c", name: "pay", input: { a: 1 }, opaque: own({ id: "fc_1" }) },
        {
          type: "call",
          id: "c~2",
          providerId: "c",
          name: "pay",
          input: { a: 2 },
          opaque: own({ id: "fc_1" }),
        },
        { type: "call", id: long, name: "pay", input: {} },
      ),
      { type: "result", callId: "c", name: "pay", status: "ok", content: "1" },
      { type: "result", callId: "c~2", name: "pay", status: "ok", content: "2" },
      { type: "result", callId: long, name: "pay", status: "ok", content: "3" },
    );
    const ids = items.map(({ call_id }) => String(call_id));
    expect(ids.slice(0, 3)).toEqual(ids.slice(3));
    expect(ids.slice(0, 2)).toEqual(["c", "c~2"]);
    expect(ids[2]).toHaveLength(64);
    expect(items.map(({ id }) => id)).toEqual([
      "fc_1",
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("writes an entry once (S1-30)", () => {
    let looks = 0;
    const entry: Entry = {
      type: "user",
      get content() {
        looks++;
        return "Hello";
      },
    };
    inputOf(entry);
    const first = looks;
    inputOf(entry, { type: "user", content: "More" });
    expect(looks).toBe(first);
  });

  it("requests an output schema, strictly where the API can (S1-30)", () => {
    const strict = {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    };
    const loose = { type: "object", properties: { city: { type: "string", minLength: 1 } } };
    const extra = { text: { verbosity: "low" } };
    expect(body({ output: strict }, { extra }).text).toEqual({
      format: { type: "json_schema", name: "output", schema: strict, strict: true },
      verbosity: "low",
    });
    expect(body({ output: loose }).text).toEqual({
      format: { type: "json_schema", name: "output", schema: loose, strict: false },
    });
    expect(body({ output: { type: "array" } })).not.toHaveProperty("text");
  });
});

describe("tools", () => {
  it("have distinct names that the API accepts, and that are decoded back (S1-30)", () => {
    const names = ["files.read", "files/read", "ä".repeat(100), "read"];
    const sent = (body({ tools: names.map((name) => tool(name)) }).tools as Item[]).map(({ name }) =>
      String(name),
    );
    expect(new Set(sent).size).toBe(names.length);
    for (const name of sent) expect(name).toMatch(/^[\w-]{1,64}$/);
    const calls = message(
      read(...sent.map((name, at) => itemDone(at, functionCall({ call_id: `c${at}`, name }))), completed()),
    ).entry;
    expect(calls.parts.map((part) => part.type === "call" && part.name)).toEqual(names);
    expect(inputOf(calls).map(({ name }) => name)).toEqual(sent);
  });

  it("do not collide with a tool named like another's encoded name (S1-30)", () => {
    const first = body({ tools: [tool("mail.send")] }).tools as Item[];
    const alias = String(first[0]?.name);
    const both = body({ tools: [tool("mail.send"), tool(alias)] }).tools as Item[];
    expect(both[0]?.name).toBe(alias);
    expect(both[1]?.name).not.toBe(alias);
  });

  it.each<[string, Item, Item]>([
    ["an empty schema", {}, { type: "object", properties: {} }],
    ["its dialect", { $schema: "x", type: "object" }, { type: "object", properties: {} }],
    [
      "an array without items, and boolean schemas",
      { type: "object", properties: { a: { type: "array" }, b: true, c: { type: "array", items: false } } },
      {
        type: "object",
        properties: { a: { type: "array", items: {} }, b: {}, c: { type: "array", items: { not: {} } } },
      },
    ],
    [
      "a union at the root",
      {
        oneOf: [
          { type: "object", properties: { a: { const: 1 }, b: {} }, required: ["a", "b"] },
          { type: "object", properties: { a: { const: 2 } }, required: ["a"] },
        ],
      },
      { type: "object", properties: { a: { anyOf: [{ const: 1 }, { const: 2 }] }, b: {} }, required: ["a"] },
    ],
    [
      "a reference at the root",
      { $ref: "#/$defs/N", $defs: { N: { type: "object", properties: { n: { $ref: "#/$defs/N" } } } } },
      {
        type: "object",
        properties: { n: { $ref: "#/$defs/N" } },
        $defs: { N: { type: "object", properties: { n: { $ref: "#/$defs/N" } } } },
      },
    ],
  ])("have schemas that the API accepts: %s (S1-30)", (_name, schema, expected) => {
    expect(toFunctionSchema(schema)).toEqual(expected);
  });

  it("are strict only when nothing is optional, open or unknown (S1-30)", () => {
    const closed = { type: "object", properties: {}, required: [], additionalProperties: false };
    expect(isStrict(closed)).toBe(true);
    expect(isStrict({ ...closed, properties: { a: { type: "string" } } })).toBe(false);
    expect(isStrict({ ...closed, additionalProperties: true })).toBe(false);
    expect(
      isStrict({ ...closed, properties: { a: { type: "string", pattern: "x" } }, required: ["a"] }),
    ).toBe(false);
  });
});

describe("an answer", () => {
  it("emits text, reasoning and calls as they arrive, with the provider's data (F22)", () => {
    const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "secret" };
    const chunks = read(
      { type: "response.created", response: {} },
      { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta: "First" },
      { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 1, delta: "Second" },
      itemDone(0, reasoning),
      { type: "response.output_text.delta", output_index: 1, delta: "Hel" },
      { type: "response.output_text.delta", output_index: 1, delta: "lo" },
      itemDone(1, {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        phase: "commentary",
        content: [{ type: "output_text", text: "Hello", annotations: [] }],
      }),
      { type: "response.output_item.added", output_index: 2, item: functionCall({ arguments: "" }) },
      { type: "response.function_call_arguments.delta", output_index: 2, delta: '{"amount"' },
      { type: "response.function_call_arguments.delta", output_index: 2, delta: ":10}" },
      { type: "response.function_call_arguments.done", output_index: 2, arguments: '{"amount":10}' },
      itemDone(2, functionCall()),
      itemDone(3, { type: "brand_new_item", id: "bn_1", call_id: null }),
      completed({ usage: { input_tokens: 3, output_tokens: 4, cost: 0.5 } }),
    );
    expect(message(chunks)).toEqual({
      entry: assistant(
        { type: "reasoning", text: "First\n\nSecond", opaque: own(reasoning) },
        { type: "text", text: "Hello", opaque: own({ id: "msg_1", phase: "commentary" }) },
        { type: "call", id: "call_1", name: "pay", input: { amount: 10 }, opaque: own({ id: "fc_1" }) },
        { type: "opaque", data: own({ type: "brand_new_item", id: "bn_1" }) },
      ),
      finish: "tool_calls",
    });
    expect(chunks.at(-2)).toEqual({ type: "usage", usage: { inputTokens: 3, outputTokens: 4, cost: 0.5 } });
  });

  it("emits content without deltas at the end of an item or response, once (S1-30)", () => {
    const message1 = { type: "message", content: [{ type: "output_text", text: "Hello" }] };
    const done = {
      type: "response.function_call_arguments.done",
      output_index: 1,
      arguments: '{"amount":10}',
    };
    const added = {
      type: "response.output_item.added",
      output_index: 1,
      item: functionCall({ arguments: "" }),
    };
    const output = [message1, functionCall()];
    const streams = [
      [itemDone(0, message1), added, done, itemDone(1, functionCall())],
      [itemDone(0, message1), itemDone(1, functionCall()), itemDone(1, functionCall())],
      [],
    ];
    for (const events of streams) {
      const { entry, finish } = message(read(...events, completed({ output })));
      expect(finish).toBe("tool_calls");
      expect(
        entry.parts.map((part) => (part.type === "text" ? part.text : part.type === "call" && part.input)),
      ).toEqual(["Hello", { amount: 10 }]);
    }
    expect(message(openAiResponses.fromJson({ status: "completed", output })).finish).toBe("tool_calls");
  });

  it("identifies items by position, not by id, and assembles interleaved calls (F29)", () => {
    const piece = (output_index: number, delta: string, at: number): Item => ({
      type: "response.function_call_arguments.delta",
      item_id: `rotating_${at}`,
      output_index,
      delta,
    });
    const added = (output_index: number, name: string): Item => ({
      type: "response.output_item.added",
      output_index,
      item: functionCall({ name, call_id: name, arguments: "" }),
    });
    const { entry } = message(
      read(
        added(0, "a"),
        added(1, "b"),
        piece(1, '{"x":', 1),
        piece(0, '{"y":', 2),
        piece(1, "1}", 3),
        piece(0, "2}", 4),
        completed(),
      ),
    );
    expect(entry.parts.map((part) => part.type === "call" && [part.name, part.input])).toEqual([
      ["a", { y: 2 }],
      ["b", { x: 1 }],
    ]);
  });

  it("keeps a message with citations, and sends it back unchanged (F22)", () => {
    const content = [
      {
        type: "output_text",
        text: "See there.",
        annotations: [
          { type: "url_citation", url: "https://a.example", start_index: 0, end_index: 3, title: "A" },
        ],
      },
    ];
    const { entry } = message(read(itemDone(0, { type: "message", id: "msg_1", content }), completed()));
    expect(inputOf(entry)).toEqual([{ type: "message", role: "assistant", id: "msg_1", content }]);
  });

  it("sends the program that called a tool with the call and with its result (F22)", () => {
    const caller = { type: "program", caller_id: "call_0" };
    const { entry } = message(read(itemDone(0, functionCall({ caller })), completed()));
    const items = inputOf(entry, {
      type: "result",
      callId: "call_1",
      name: "pay",
      status: "ok",
      content: "Done.",
    });
    expect(items.map((item) => item.caller)).toEqual([caller, caller]);
  });

  it.each<[string, readonly Item[], string | undefined]>([
    ["an ordinary end", [completed()], "end"],
    ["an end with calls", [itemDone(0, functionCall()), completed()], "tool_calls"],
    ["the token limit", [incomplete("max_output_tokens")], "length"],
    [
      "the token limit with a whole call",
      [itemDone(0, functionCall()), incomplete("max_output_tokens")],
      "length",
    ],
    [
      "a filter with a whole call",
      [itemDone(0, functionCall()), incomplete("content_filter")],
      "content_filter",
    ],
    ["the limit of built-in calls", [itemDone(0, functionCall()), incomplete("max_tool_calls")], "other"],
    ["an unknown reason", [itemDone(0, functionCall()), incomplete("boredom")], "other"],
    [
      "an incomplete call in a complete answer",
      [itemDone(0, functionCall({ status: "incomplete" })), completed()],
      "length",
    ],
    ["no end", [itemDone(0, functionCall())], undefined],
    ["[DONE] alone", [{ type: "response.output_text.delta", output_index: 0, delta: "Hi" }], undefined],
  ])("ends with the provider's finish reason: %s (S1-30, F15, F25)", (_name, events, finish) => {
    const reader = openAiResponses.reader();
    const data = [...events.map((event) => JSON.stringify(event)), "[DONE]"];
    expect(message(data.flatMap((text) => [...reader.read({ data: text })])).finish).toBe(finish);
  });

  const created = { type: "response.created", response: { status: "in_progress" } };
  const said = (delta: string) => ({ type: "response.output_text.delta", output_index: 0, delta });
  const whole = (text: string) => ({
    ...{ type: "message", id: "msg_1", content: [{ type: "output_text", text, annotations: [] }] },
  });
  const numbered = (...events: Item[]) =>
    events.map((event, index): Item => ({ ...event, sequence_number: index }));

  it.each<[string, Item[]]>([
    ["a second response after output", [created, said("Hel"), created, said("Hello."), completed()]],
    ["numbers that begin again", [...numbered(created, said("Hel"), said("lo")), ...numbered(said("Hel"))]],
    ["a complete text that differs", [said("Hel"), said("Hello."), completed({ output: [whole("Hello.")] })]],
    ["an item that ends with another text", [said("Yes"), itemDone(0, whole("No."))]],
    [
      "a response without a text that was streamed",
      [said("Yes"), completed({ output: [{ type: "reasoning" }] })],
    ],
    [
      "a call that becomes another",
      [
        { type: "response.output_item.added", output_index: 0, item: functionCall({ name: "look" }) },
        itemDone(0, functionCall({ name: "pay" })),
      ],
    ],
    [
      "arguments that differ",
      [
        { type: "response.function_call_arguments.delta", output_index: 0, delta: '{"amount":1' },
        itemDone(0, functionCall({ arguments: '{"amount":2}' })),
      ],
    ],
    [
      "numbers that are missing, without a complete response to compare with",
      [...numbered(created, said("Hel")), { ...completed(), sequence_number: 7 }],
    ],
  ])("contradicts itself with %s: nothing of it is used (F15)", (_what, events) => {
    expect(failure(() => read(...events))).toMatchObject({ code: "stream_inconsistent", retryable: true });
  });

  it.each<[string, Item[]]>([
    ["a first event that is repeated", [created, created, said("Hello."), completed()]],
    [
      "numbers that do not count",
      [created, said("Hel"), said("lo."), completed()].map((e) => ({ ...e, sequence_number: 0 })),
    ],
    ["an empty output at the end", [said("Hello."), completed({ output: [] })]],
    [
      "deltas that were lost, if the end has the whole text",
      [said("Hel"), completed({ output: [whole("Hello.")] })],
    ],
    [
      "an item that has another place at the end",
      [
        { type: "response.output_item.added", output_index: 2, item: { ...whole(""), id: "msg_1" } },
        { type: "response.output_text.delta", output_index: 2, delta: "Hello." },
        completed({ output: [whole("Hello.")] }),
      ],
    ],
  ])("is whole in spite of %s", (_what, events) => {
    const { entry, finish } = message(read(...events));
    expect(finish).toBe("end");
    expect(getText(entry)).toBe("Hello.");
  });

  it("keeps the text of a refusal and runs nothing (F25)", () => {
    const refusal = { type: "message", id: "msg_1", content: [{ type: "refusal", refusal: "I cannot." }] };
    const streamed = message(
      read(
        { type: "response.refusal.delta", output_index: 0, delta: "I cannot." },
        itemDone(0, refusal),
        itemDone(1, functionCall()),
        completed(),
      ),
    );
    const whole = message(
      openAiResponses.fromJson({ status: "completed", output: [refusal, functionCall()] }),
    );
    expect(streamed).toEqual(whole);
    expect(streamed.finish).toBe("refusal");
    expect(streamed.entry.parts[0]).toMatchObject({ type: "text", text: "I cannot." });
  });

  it("ignores unknown events and anything after the end (F22)", () => {
    expect(read({ type: "response.brand_new.delta", delta: 1 })).toEqual([]);
    expect(read(completed(), completed({ output: [functionCall()] }))).toHaveLength(1);
  });

  it.each([
    "{",
    "[]",
    "null",
    "1",
    '{"type":"response.output_text.delta"}',
  ])("rejects an event that cannot be parsed: %s (F16)", (data) => {
    const error = failure(() => openAiResponses.reader().read({ data }));
    expect([error.code, error.retryable]).toEqual(["bad_chunk", true]);
  });
});

function incomplete(reason: string): Item {
  return { type: "response.incomplete", response: { status: "incomplete", incomplete_details: { reason } } };
}

describe("an error inside the stream", () => {
  it.each<[Item, string, boolean]>([
    [{ code: "rate_limit_exceeded", message: "Slow down." }, "model_rate_limited", true],
    [{ code: "insufficient_quota", message: "Pay." }, "model_rate_limited", false],
    [{ code: "server_error", message: "Oops." }, "model_failed", true],
    [{ code: "server_is_overloaded", message: "Busy." }, "model_overloaded", true],
    [{ code: "slow_down", message: "Busy." }, "model_overloaded", true],
    [{ code: "context_length_exceeded", message: "Too long." }, "context_overflow", false],
    [{ message: "Your input exceeds the context window of this model." }, "context_overflow", false],
    [{ code: "invalid_prompt", message: "No." }, "model_rejected", false],
    [{ type: "invalid_request_error", code: null, message: "No." }, "model_rejected", false],
    [{ code: "invalid_api_key", message: "No." }, "model_auth", false],
    [{ code: "model_not_found", message: "No." }, "model_not_found", false],
    [{ code: "image_content_policy_violation", message: "No." }, "content_filter", false],
    [{ code: 503, message: "Busy." }, "model_overloaded", true],
    [{ code: "something_new", message: "Hm." }, "model_failed", true],
    [{}, "model_failed", true],
  ])("is named by its type: %j (F19)", (error, code, retryable) => {
    const { type: _type, ...flat } = error;
    const shapes: (() => unknown)[] = [
      () => read({ type: "error", error }),
      () => read({ type: "response.failed", response: { status: "failed", error } }),
      () => openAiResponses.fromJson({ status: "failed", error }),
    ];
    if (!("type" in error)) shapes.push(() => read({ type: "error", ...flat }));
    for (const shape of shapes) {
      const thrown = failure(shape);
      expect([thrown.code, thrown.retryable]).toEqual([code, retryable]);
    }
  });

  it("reports the delay, is short and shows no key (F19)", () => {
    const message = `Try again in 1.5s. Key sk-${"a".repeat(40)}. ${"x".repeat(2000)}`;
    const error = failure(() => read({ type: "error", code: "rate_limit_exceeded", message }));
    expect(error.retryAfterMs).toBe(1500);
    expect(error.message.length).toBeLessThanOrEqual(500);
    expect(error.message).not.toContain("aaaa");
  });

  it("is known as an overflow by the provider's wording (F26)", () => {
    const words = [
      "Your input exceeds the context window of this model. Please adjust your input and try again.",
      "This model's maximum context length is 128000 tokens.",
      "context_length_exceeded",
    ];
    for (const text of words) expect(openAiResponses.isOverflow(text)).toBe(true);
    expect(openAiResponses.isOverflow("Invalid value: 'foo'.")).toBe(false);
  });
});
