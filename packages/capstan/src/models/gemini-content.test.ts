import { existsSync, globSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRecord, type Json } from "../base/json.ts";
import { addChunk, buildParts, createMessageBuilder } from "../kernel/calls/message-builder.ts";
import type { AssistantPart, CallPart, Entry } from "../kernel/history.ts";
import type { Chunk, ModelRequest } from "../kernel/model.ts";
import { geminiContent } from "./gemini-content.ts";
import { tagData } from "./wire.ts";

type Body = Record<string, Json>;

const settings = { model: "gemini-2.5-flash", stream: true } as const;

function requestOf(change: Partial<ModelRequest>): ModelRequest {
  return { instructions: "", history: [], tools: [], toolChoice: "auto", thinking: false, ...change };
}

function bodyOf(change: Partial<ModelRequest>, more: object = {}): Body {
  return JSON.parse(geminiContent.toRequest(requestOf(change), { ...settings, ...more }));
}

/** What the events make: the message, why it ended, and what it used. */
function readAll(events: readonly string[]) {
  const reader = geminiContent.reader();
  return assembled(events.flatMap((data) => reader.read({ data })));
}

function assembled(chunks: readonly Chunk[]) {
  const message = createMessageBuilder((id, index) => id ?? `made-${index}`);
  for (const chunk of chunks) addChunk(message, chunk);
  return { parts: buildParts(message), finish: message.stopReason, usage: message.usage };
}

const event = (candidate: object, more: object = {}) =>
  JSON.stringify({ candidates: [{ index: 0, ...candidate }], ...more });
const said = (...parts: object[]) => ({ content: { role: "model", parts } });
const call = (id: string, more: Partial<CallPart> = {}): CallPart => ({
  type: "call",
  id,
  name: "search",
  input: { q: "x" },
  ...more,
});
const ok = (callId: string, content: string): Entry => ({
  type: "result",
  callId,
  name: "search",
  status: "ok",
  content,
});
const tool = (name: string, input: object = { type: "object", properties: { q: { type: "string" } } }) => ({
  name,
  description: `The tool ${name}`,
  input: input as Record<string, unknown>,
});

describe("a Gemini request", () => {
  it("has contents, tools, instructions and the temperature of the settings (S0-24, S0-42)", () => {
    const body = bodyOf(
      {
        instructions: "Be brief.",
        history: [{ type: "user", content: "Weather in Oslo?" }],
        tools: [tool("weather")],
      },
      { temperature: 0.7, maxOutputTokens: 1000 },
    );
    expect(body).toEqual({
      contents: [{ role: "user", parts: [{ text: "Weather in Oslo?" }] }],
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools: [
        {
          functionDeclarations: [
            {
              name: "weather",
              description: "The tool weather",
              parametersJsonSchema: { type: "object", properties: { q: { type: "string" } } },
            },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: "AUTO" } },
      generationConfig: { temperature: 0.7, maxOutputTokens: 1000 },
    });
  });

  it("sends calls as model parts, results together as user parts, and failures as errors (S0-25, D-03)", () => {
    const history: Entry[] = [
      { type: "user", content: "Compare." },
      {
        type: "assistant",
        parts: [
          {
            type: "reasoning",
            text: "Let me look.",
            opaque: tagData("gemini", { thoughtSignature: "c2ln" }),
          },
          { type: "text", text: "I look." },
          call("a", { opaque: tagData("gemini", { id: "a", thoughtSignature: "c2lnMg==" }) }),
          call("b~2", { providerId: "b", opaque: tagData("gemini", { id: "b" }) }),
          call("c", { raw: "{oops", input: {} }),
        ],
      },
      ok("a", "found"),
      { type: "result", callId: "b~2", name: "search", status: "error", content: "no network" },
      { type: "result", callId: "c", name: "search", status: "denied", content: "" },
      { type: "assistant", parts: [{ type: "text", text: "Done." }] },
      { type: "summary", text: "They compared." },
      { type: "user", content: "And now?" },
    ];
    expect(bodyOf({ history }).contents).toEqual([
      { role: "user", parts: [{ text: "Compare." }] },
      {
        role: "model",
        parts: [
          { text: "Let me look.", thought: true, thoughtSignature: "c2ln" },
          { text: "I look." },
          { functionCall: { id: "a", name: "search", args: { q: "x" } }, thoughtSignature: "c2lnMg==" },
          { functionCall: { id: "b", name: "search", args: { q: "x" } } },
          { functionCall: { name: "search", args: { _raw: "{oops" } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "a", name: "search", response: { result: "found" } } },
          { functionResponse: { id: "b", name: "search", response: { error: "no network" } } },
          { functionResponse: { name: "search", response: { error: "denied" } } },
        ],
      },
      { role: "model", parts: [{ text: "Done." }] },
      {
        role: "user",
        parts: [{ text: "Summary of the conversation so far:\nThey compared." }, { text: "And now?" }],
      },
    ]);
  });

  it("sends images and files as data or URLs, and the ones in results after the results (S0-25)", () => {
    const history: Entry[] = [
      {
        type: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image", mediaType: "image/png", data: "AAAA" },
          { type: "file", mediaType: "application/pdf", url: "gs://bucket/a.pdf" },
          { type: "image", mediaType: "image/png", url: "data:image/jpeg;base64,BBBB" },
          { type: "image", mediaType: "image/gif" },
        ],
      },
      { type: "assistant", parts: [call("a"), call("b")] },
      {
        type: "result",
        callId: "a",
        name: "search",
        status: "ok",
        content: [
          { type: "text", text: "A chart" },
          { type: "image", mediaType: "image/png", data: "CCCC" },
        ],
      },
      ok("b", "nothing"),
    ];
    const response = (result: string) => ({ functionResponse: { name: "search", response: { result } } });
    const contents = bodyOf({ history }).contents as Json[];
    expect(contents[0]).toEqual({
      role: "user",
      parts: [
        { text: "What is this?" },
        { inlineData: { mimeType: "image/png", data: "AAAA" } },
        { fileData: { mimeType: "application/pdf", fileUri: "gs://bucket/a.pdf" } },
        { inlineData: { mimeType: "image/jpeg", data: "BBBB" } },
        { text: "[image image/gif]" },
      ],
    });
    expect(contents.slice(2)).toEqual([
      { role: "user", parts: [response("A chart\n[image image/png]"), response("nothing")] },
      {
        role: "user",
        parts: [
          { text: "From the result of search:" },
          { inlineData: { mimeType: "image/png", data: "CCCC" } },
        ],
      },
    ]);
  });

  it("drops reasoning of another provider, and signs its calls for models that require it (S0-25)", () => {
    const history: Entry[] = [
      { type: "user", content: "Go." },
      {
        type: "assistant",
        parts: [
          { type: "reasoning", text: "Hm.", opaque: tagData("anthropic", { signature: "s" }) },
          { type: "opaque", data: tagData("openai", { type: "item" }) },
          call("toolu_1", { opaque: tagData("anthropic", { id: "x" }) }),
          call("toolu_2"),
        ],
      },
      ok("toolu_1", "1"),
      ok("toolu_2", "2"),
      { type: "assistant", parts: [{ type: "reasoning", text: "Only a thought." }] },
    ];
    const functionCall = { name: "search", args: { q: "x" } };
    const model = (body: Body) => (body.contents as Json[])[1];
    expect(model(bodyOf({ history }))).toEqual({
      role: "model",
      parts: [{ functionCall }, { functionCall }],
    });
    expect(model(bodyOf({ history }, { model: "gemini-3-pro-preview" }))).toEqual({
      role: "model",
      parts: [{ functionCall, thoughtSignature: "skip_thought_signature_validator" }, { functionCall }],
    });
    expect(bodyOf({ history }).contents).toHaveLength(3);
  });

  it.each([
    ["auto", "AUTO"],
    ["required", "ANY"],
    ["none", "NONE"],
  ] as const)("sends the tool choice %s as the mode %s (S0-24)", (toolChoice, mode) => {
    expect(bodyOf({ tools: [tool("a")], toolChoice }).toolConfig).toEqual({
      functionCallingConfig: { mode },
    });
    expect(bodyOf({ toolChoice })).not.toHaveProperty("toolConfig");
  });

  it("requests an output schema only without tools, and thoughts only when thinking (S0-24)", () => {
    const output = { type: "object", properties: { a: { const: "x" } }, required: ["a"] };
    expect(bodyOf({ output, thinking: true }).generationConfig).toEqual({
      responseMimeType: "application/json",
      responseJsonSchema: { type: "object", properties: { a: { enum: ["x"] } }, required: ["a"] },
      thinkingConfig: { includeThoughts: true },
    });
    expect(bodyOf({ output, tools: [tool("a")] })).not.toHaveProperty("generationConfig");
    expect(bodyOf({ thinking: true }, { model: "gemini-2.0-flash" })).not.toHaveProperty("generationConfig");
  });

  it("joins extra fields with its own instead of losing either (S0-24)", () => {
    const extra = {
      generationConfig: { thinkingConfig: { thinkingBudget: 128 }, seed: 7 },
      tools: [{ googleSearch: {} }],
      safetySettings: [],
      contents: [],
    };
    const body = bodyOf(
      { history: [{ type: "user", content: "Hi" }], thinking: true },
      { extra, temperature: 0.7 },
    );
    expect(body).toEqual({
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      tools: [{ googleSearch: {} }],
      generationConfig: {
        temperature: 0.7,
        thinkingConfig: { includeThoughts: true, thinkingBudget: 128 },
        seed: 7,
      },
      safetySettings: [],
    });
  });

  it("adds a user turn before a conversation that the model starts (S0-25)", () => {
    const history: Entry[] = [{ type: "assistant", parts: [call("a")] }, ok("a", "1")];
    expect((bodyOf({ history }).contents as Body[]).map(({ role }) => role)).toEqual([
      "user",
      "model",
      "user",
    ]);
  });

  it("writes each entry once (S0-24)", () => {
    let reads = 0;
    const entry = {
      type: "user",
      get content() {
        reads += 1;
        return "Hello";
      },
    } as const;
    const first = bodyOf({ history: [entry] });
    const readsOnce = reads;
    expect(bodyOf({ history: [entry] })).toEqual(first);
    expect(reads).toBe(readsOnce);
  });
});

describe("names of tools", () => {
  const namesIn = (body: Body): string[] =>
    (body.tools as unknown as { functionDeclarations: { name: string }[] }[]).flatMap((group) =>
      group.functionDeclarations.map(({ name }) => name),
    );

  it("are encoded to names that Gemini allows, without collisions, and decoded in calls (S0-25)", () => {
    const long = "x".repeat(100);
    const names = ["fine.name:1-a", "a b", "a/b", "1st", "ü", "", long, `${long}y`, "a_b"];
    const wire = namesIn(bodyOf({ tools: names.map((name) => tool(name)) }));
    for (const name of wire) expect(name).toMatch(/^[A-Za-z_][\w.:-]{0,63}$/);
    expect(new Set(wire).size).toBe(names.length);
    expect(wire[0]).toBe("fine.name:1-a");
    const { parts } = readAll(wire.map((name) => event(said({ functionCall: { name } }))));
    expect(parts.map((part) => part.type === "call" && part.name)).toEqual(names);
  });

  it("cannot collide with a tool whose real name looks encoded (S0-25)", () => {
    const [made = ""] = namesIn(bodyOf({ tools: [tool("a b")] }));
    const [other] = namesIn(bodyOf({ tools: [tool(made)] }));
    expect(other).not.toBe(made);
  });

  it("are the same in the history as among the tools (S0-25)", () => {
    const named = call("1", { name: "my tool" });
    const history: Entry[] = [
      { type: "user", content: "Go." },
      { type: "assistant", parts: [named] },
      { ...ok("1", "x"), name: "my tool" } as Entry,
    ];
    const body = bodyOf({ history, tools: [tool("my tool")] });
    const [name] = namesIn(body);
    expect(JSON.stringify(body).split(JSON.stringify(name))).toHaveLength(4);
  });
});

describe("schemas", () => {
  const adapted = (input: object) =>
    (
      bodyOf({ tools: [tool("t", input)] }).tools as unknown as {
        functionDeclarations: { parametersJsonSchema: Json }[];
      }[]
    )[0]?.functionDeclarations[0]?.parametersJsonSchema;

  it("keep supported keywords and describe the rest (S0-24)", () => {
    expect(
      adapted({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        properties: {
          city: { type: "string", description: "A city", minLength: 2, pattern: "^[A-Z]" },
          unit: { oneOf: [{ const: "c" }, { const: "f" }] },
          on: { type: "boolean", const: true },
          count: { type: ["integer", "null"], minimum: 1, exclusiveMaximum: 9 },
          tags: { type: "array", items: { $ref: "#/$defs/tag", description: "dropped" }, uniqueItems: true },
          any: true,
        },
        required: ["city"],
        additionalProperties: false,
        $defs: { tag: { type: "string", enum: ["a", "b"] } },
        not: { required: ["x"] },
      }),
    ).toEqual({
      type: "object",
      properties: {
        city: { type: "string", description: 'A city (minLength: 2, pattern: "^[A-Z]")' },
        unit: { anyOf: [{ enum: ["c"] }, { enum: ["f"] }] },
        on: { type: "boolean", description: "(const: true)" },
        count: { type: ["integer", "null"], minimum: 1, description: "(exclusiveMaximum: 9)" },
        tags: { type: "array", items: { $ref: "#/$defs/tag" }, description: "(uniqueItems: true)" },
        any: {},
      },
      required: ["city"],
      additionalProperties: false,
      $defs: { tag: { type: "string", enum: ["a", "b"] } },
    });
  });

  it("have the members of allOf joined, and are objects at the top (S0-24)", () => {
    expect(
      adapted({
        allOf: [
          { properties: { a: { type: "string" } }, required: ["a"] },
          { properties: { b: { type: "number" } }, required: ["b"] },
        ],
      }),
    ).toEqual({
      type: "object",
      properties: { a: { type: "string" }, b: { type: "number" } },
      required: ["a", "b"],
    });
    expect(adapted({})).toEqual({ type: "object" });
  });

  it("have a reference at the top resolved, and older definitions renamed (S0-24)", () => {
    const node = { type: "object", properties: { next: { $ref: "#/definitions/node" } } };
    const renamed = { type: "object", properties: { next: { $ref: "#/$defs/node" } } };
    expect(adapted({ $ref: "#/definitions/node", definitions: { node } })).toEqual({
      ...renamed,
      $defs: { node: renamed },
    });
  });

  it("of an answer may be other than an object (S0-24)", () => {
    const schemaOf = (output: object) =>
      (bodyOf({ output: output as Record<string, unknown> }).generationConfig as Body).responseJsonSchema;
    expect(schemaOf({ type: "array", items: { type: "string" } })).toEqual({
      type: "array",
      items: { type: "string" },
    });
    expect(schemaOf({ enum: ["yes", "no"] })).toEqual({ enum: ["yes", "no"] });
  });
});

describe("a Gemini stream", () => {
  it("emits thoughts, text and complete calls, with ids and signatures on their parts (S0-42)", () => {
    const { parts, finish, usage } = readAll([
      event(said({ text: "Hm", thought: true })),
      event(said({ text: ".", thought: true, thoughtSignature: "c2ln" })),
      event(said({ text: "I " })),
      event(said({ text: "look." }, { functionCall: { id: "f1", name: "search", args: { q: 1 } } })),
      event(said({ functionCall: { name: "list" }, thoughtSignature: "c2lnMg==" })),
      event({ ...said({ text: "" }), finishReason: "STOP" }, { usageMetadata: { promptTokenCount: 3 } }),
      JSON.stringify({
        usageMetadata: {
          promptTokenCount: 10,
          toolUsePromptTokenCount: 2,
          cachedContentTokenCount: 4,
          candidatesTokenCount: 5,
          thoughtsTokenCount: 6,
        },
      }),
    ]);
    expect(parts).toEqual([
      { type: "reasoning", text: "Hm.", opaque: tagData("gemini", { thoughtSignature: "c2ln" }) },
      { type: "text", text: "I look." },
      { type: "call", id: "f1", name: "search", input: { q: 1 }, opaque: tagData("gemini", { id: "f1" }) },
      {
        type: "call",
        id: "made-1",
        name: "list",
        input: {},
        opaque: tagData("gemini", { thoughtSignature: "c2lnMg==" }),
      },
    ]);
    expect(finish).toBe("tool_calls");
    expect(usage).toEqual({ inputTokens: 12, outputTokens: 11, cachedTokens: 4, reasoningTokens: 6 });
  });

  it.each([
    ["STOP", "end"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content_filter"],
    ["RECITATION", "content_filter"],
    ["PROHIBITED_CONTENT", "content_filter"],
    ["BLOCKLIST", "content_filter"],
    ["SPII", "content_filter"],
    ["MODEL_ARMOR", "content_filter"],
    ["IMAGE_SAFETY", "content_filter"],
    ["IMAGE_PROHIBITED_CONTENT", "content_filter"],
    ["IMAGE_RECITATION", "content_filter"],
    ["LANGUAGE", "other"],
    ["OTHER", "other"],
    ["TOO_MANY_TOOL_CALLS", "other"],
    ["MISSING_THOUGHT_SIGNATURE", "other"],
    ["MALFORMED_RESPONSE", "other"],
    ["NO_IMAGE", "other"],
    ["IMAGE_OTHER", "other"],
    ["MALFORMED_FUNCTION_CALL", "other"],
    ["UNEXPECTED_TOOL_CALL", "other"],
    ["SOMETHING_NEW", "other"],
    ["toString", "other"],
  ])("that ends with %s finishes with %s, calls or not (F22, F25, F86)", (finishReason, reason) => {
    expect(readAll([event({ ...said({ text: "a" }), finishReason })]).finish).toBe(reason);
    const withCall = readAll([event({ ...said({ functionCall: { name: "pay" } }), finishReason })]).finish;
    expect(withCall).toBe(reason === "end" ? "tool_calls" : reason);
  });

  it("whose prompt was blocked finishes as filtered (F25)", () => {
    const blocked = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: {} };
    expect(readAll([JSON.stringify(blocked)])).toEqual({
      parts: [],
      finish: "content_filter",
      usage: undefined,
    });
  });

  it("that starts over with a new responseId is inconsistent; nothing of it is used (F15)", () => {
    const first = event(said({ functionCall: { name: "pay", args: { amount: 1 } } }), { responseId: "a" });
    const second = event({ ...said({ text: "Paid." }), finishReason: "STOP" }, { responseId: "b" });
    expect(() => readAll([first, second])).toThrowError(
      expect.objectContaining({ code: "stream_inconsistent", retryable: true }),
    );
  });

  it("whose first event has no responseId is one response", () => {
    const events = [
      event(said({ text: "I " })),
      event(said({ text: "pay." }), { responseId: "a" }),
      event({ finishReason: "STOP" }, { responseId: "a" }),
    ];
    expect(readAll(events)).toMatchObject({ parts: [{ text: "I pay." }], finish: "end" });
  });

  it("without a finish reason has no end, wherever it is cut (F15)", () => {
    const events = [
      event(said({ text: "I pay" })),
      event(said({ functionCall: { name: "pay", args: { amount: 1 } } })),
      event({ finishReason: "STOP" }),
    ];
    for (let length = 0; length < events.length; length += 1)
      expect(readAll(events.slice(0, length)).finish).toBeUndefined();
    expect(readAll(events).finish).toBe("tool_calls");
  });

  it("that sends its finish reason with every event ends with the last one (F22)", () => {
    const events = [
      event({ ...said({ text: "a" }), finishReason: "STOP" }),
      event({ ...said({ functionCall: { name: "b" } }), finishReason: "STOP" }),
    ];
    expect(readAll(events).finish).toBe("tool_calls");
  });

  it("keeps unknown parts and sends them back in position (F22)", () => {
    const parts = [
      { text: "Running:" },
      { executableCode: { language: "PYTHON", code: "1+1" }, thoughtSignature: "c2ln" },
      { codeExecutionResult: { outcome: "OUTCOME_OK", output: "2" } },
      { text: "It is 2." },
    ];
    const read = readAll([event({ ...said(...parts), finishReason: "STOP" })]);
    expect(read.parts.map(({ type }) => type)).toEqual(["text", "opaque", "opaque", "text"]);
    expect(sentBack(read.parts)).toEqual(parts);
  });

  it("uses the first of several candidates, in any order (S0-42)", () => {
    const data = JSON.stringify({
      candidates: [
        { index: 1, ...said({ text: "no" }), finishReason: "STOP" },
        { index: 0, ...said({ text: "yes" }) },
      ],
    });
    expect(readAll([data])).toEqual({
      parts: [{ type: "text", text: "yes" }],
      finish: undefined,
      usage: undefined,
    });
  });

  it.each([
    "not json",
    '"text"',
    "[]",
    "null",
    "7",
  ])("with the event %s is refused as a bad chunk (F16)", (data) => {
    expect(() => geminiContent.reader().read({ data })).toThrow(
      expect.objectContaining({ code: "bad_chunk" }),
    );
  });

  it("reads any JSON, or fails with a bad chunk or a named error (F16, F22)", () => {
    const key = fc.constantFrom(
      ..."candidates content parts text thought functionCall name args partialArgs jsonPath willContinue".split(
        " ",
      ),
      ..."finishReason usageMetadata promptFeedback error details index".split(" "),
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "medium", withCrossShrink: true },
        fc.constantFrom(null, 0, 1, "", "$.a", "STOP", true),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(key, tie("value"), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(value, (anything) => {
        try {
          readAll([JSON.stringify(anything)]);
        } catch (thrown) {
          expect(thrown).toHaveProperty("name", "AgentError");
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    [429, "RESOURCE_EXHAUSTED", "Quota", "model_rate_limited", true],
    [503, "UNAVAILABLE", "The model is overloaded.", "model_overloaded", true],
    [500, "INTERNAL", "Internal error", "model_failed", true],
    [504, "DEADLINE_EXCEEDED", "Too slow", "model_timeout", true],
    [401, "UNAUTHENTICATED", "No", "model_auth", false],
    [403, "PERMISSION_DENIED", "No", "model_auth", false],
    [400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "model_auth", false],
    [400, "INVALID_ARGUMENT", "Bad schema", "model_rejected", false],
    [404, "NOT_FOUND", "models/x is not found", "model_not_found", false],
    [
      400,
      "INVALID_ARGUMENT",
      "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
      "context_overflow",
      false,
    ],
  ])("with the error %i %s (%s) fails as %s (F19)", (code, status, message, named, retryable) => {
    const data = JSON.stringify({ error: { code, status, message } });
    const failure = expect.objectContaining({ code: named, retryable });
    expect(() => geminiContent.reader().read({ data })).toThrow(failure);
    expect(() => geminiContent.fromJson([JSON.parse(data)])).toThrow(failure);
  });

  it("with an error keeps keys out of the message and the message short (F19)", () => {
    const message = `Consumer 'api_key:AIza${"S".repeat(35)}' has been suspended. ${"x".repeat(2000)}`;
    try {
      geminiContent.fromJson({ error: { code: 403, message } });
      expect.unreachable();
    } catch (thrown) {
      expect(String(thrown)).not.toContain("SSSS");
      expect(String(thrown).length).toBeLessThan(600);
    }
  });
});

describe("arguments in pieces", () => {
  const piece = (jsonPath: string, value: object, more: object = { willContinue: true }) =>
    event(said({ functionCall: { partialArgs: [{ jsonPath, ...value }], ...more } }));
  const head = event(said({ functionCall: { name: "pay", willContinue: true }, thoughtSignature: "c2ln" }));
  const end = event({ ...said({ functionCall: {} }), finishReason: "STOP" });

  it("become one call with every kind of value at its path (S0-42)", () => {
    const { parts, finish } = readAll([
      head,
      piece("$.to.name", { stringValue: 'A "b', willContinue: true }),
      piece("$.to.name", { stringValue: " c" }),
      piece("$.list[0].n", { numberValue: 1.5 }),
      piece("$.list[1].ok", { boolValue: false }),
      piece("$['odd key'][\"x.y\"]", { nullValue: "NULL_VALUE" }),
      end,
    ]);
    expect(finish).toBe("tool_calls");
    expect(parts).toEqual([
      {
        type: "call",
        id: "made-0",
        name: "pay",
        input: {
          to: { name: 'A "b c' },
          list: [{ n: 1.5 }, { ok: false }],
          "odd key": { "x.y": null },
        },
        opaque: tagData("gemini", { thoughtSignature: "c2ln" }),
      },
    ]);
  });

  it("are emitted once the call is complete (S0-42)", () => {
    const reader = geminiContent.reader();
    expect(reader.read({ data: head }).map(({ type }) => type)).toEqual(["call_start"]);
    expect(reader.read({ data: piece("$.a", { numberValue: 1 }) })).toEqual([]);
    expect(reader.read({ data: piece("$.b", { numberValue: 2 }, {}) })).toEqual([
      { type: "call_delta", index: 0, text: '{"a":1,"b":2}' },
    ]);
  });

  it("that stop inside a text are never complete, whatever the finish reason (F24)", () => {
    const half = piece("$.amount", { stringValue: "1", willContinue: true });
    const stopped = readAll([head, half, event({ finishReason: "STOP" })]);
    expect(stopped.finish).toBeUndefined();
    const cut = readAll([head, half, event({ finishReason: "MAX_TOKENS" })]);
    expect(cut.finish).toBe("length");
    expect(cut.parts).toMatchObject([{ type: "call", input: {}, raw: '{"amount":"1"' }]);
    expect(readAll([head, half]).finish).toBeUndefined();
  });

  it.each([
    "$.a[999999999]",
    "nonsense",
    "$",
    "$..a",
    `$${".a".repeat(100)}`,
  ])("at the path %s are a bad chunk (F16, F33)", (path) => {
    expect(() => readAll([head, piece(path, { stringValue: "x" })])).toThrow(
      expect.objectContaining({ code: "bad_chunk" }),
    );
  });

  it("cannot reach a prototype (F30)", () => {
    const { parts } = readAll([head, piece("$.__proto__.polluted", { boolValue: true }), end]);
    expect({}).not.toHaveProperty("polluted");
    expect(parts).toMatchObject([{ type: "call", input: {} }]);
  });
});

describe("an overflow", () => {
  it("is distinguished from other rejections by its message (F26)", () => {
    for (const words of [
      "The input token count (134123) exceeds the maximum number of tokens allowed (131072).",
      "Unable to submit request because the input token count is 1200000 but model only supports up to 1048576.",
      "Request payload size exceeds the limit: 20971520 bytes.",
    ])
      expect(geminiContent.isOverflow(words)).toBe(true);
    for (const words of [
      "You exceeded your current quota: generate_content_free_tier_input_token_count, limit: 250000",
      "Function call is missing a thought_signature in functionCall parts.",
    ])
      expect(geminiContent.isOverflow(words)).toBe(false);
  });
});

/** The parts of the model's content in the next request. */
function sentBack(parts: readonly AssistantPart[]): Json {
  const history: Entry[] = [
    { type: "user", content: "Go." },
    { type: "assistant", parts },
  ];
  return ((bodyOf({ history }).contents as Body[])[1]?.parts ?? []) as Json;
}

describe("a Gemini response", () => {
  const text = fc.string({ minLength: 1 });
  const signature = fc.option(
    text.map((thoughtSignature) => ({ thoughtSignature })),
    { nil: {} },
  );
  const args = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.oneof(text, fc.integer(), fc.boolean()));
  const functionCall = fc.record({ id: fc.uuid(), name: fc.stringMatching(/^[a-z_]{1,20}$/), args });
  const signed = text.chain((thoughtSignature) => text.map((said) => ({ text: said, thoughtSignature })));
  const part = fc.oneof(
    signed,
    signed.map((thought) => ({ ...thought, thought: true })),
    fc.tuple(functionCall, signature).map(([made, sign]) => ({ functionCall: made, ...sign })),
    fc.record({ inlineData: fc.record({ mimeType: fc.constant("image/png"), data: fc.base64String() }) }),
  );

  it("is sent back to Gemini part by part, streamed or not (F22, S0-25)", () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const whole = assembled(
          geminiContent.fromJson({ candidates: [{ ...said(...parts), finishReason: "STOP" }] }),
        );
        const streamed = readAll([...parts.map((one) => event(said(one))), event({ finishReason: "STOP" })]);
        expect(streamed).toEqual(whole);
        expect(sentBack(whole.parts)).toEqual(parts);
      }),
      { numRuns: 200 },
    );
  });
});

const recordings = new URL("../../../../../shared/wire/", import.meta.url);

/** An independent, slow reading of recorded answers: what the payloads themselves say. */
function folded(answers: readonly Record<string, unknown>[]) {
  const result = { text: "", reasoning: "", calls: [] as { name: string; input: Record<string, Json> }[] };
  const signatures: string[] = [];
  let finish: unknown;
  let usage: Record<string, number> = {};
  for (const answer of answers as unknown as Recorded[]) {
    usage = { ...usage, ...answer.usageMetadata };
    const candidate = answer.candidates?.[0];
    finish = candidate?.finishReason ?? finish;
    for (const part of candidate?.content?.parts ?? []) {
      if (part.thoughtSignature) signatures.push(part.thoughtSignature);
      if (part.functionCall?.name)
        result.calls.push({ name: part.functionCall.name, input: part.functionCall.args ?? {} });
      for (const { jsonPath, ...value } of part.functionCall?.partialArgs ?? [])
        put(result.calls.at(-1)?.input ?? {}, jsonPath, value.stringValue ?? value.numberValue ?? null);
      if (part.thought) result.reasoning += part.text;
      else result.text += part.text ?? "";
    }
  }
  return { ...result, finish, signatures, usage };
}

type Recorded = {
  candidates?: {
    finishReason?: string;
    content?: {
      parts?: {
        text?: string;
        thought?: boolean;
        thoughtSignature?: string;
        functionCall?: {
          name?: string;
          args?: Record<string, Json>;
          partialArgs?: { jsonPath: string; stringValue?: string; numberValue?: number }[];
        };
      }[];
    };
  }[];
  usageMetadata?: Record<string, number>;
};

/** Every path of the recordings is dotted, with numbers in brackets, and texts arrive in order. */
function put(root: Record<string, unknown>, path: string, value: Json): void {
  const keys = path.slice(2).replaceAll("[", ".").replaceAll("]", "").split(".");
  const last = keys.pop() ?? "";
  let at = root;
  for (const [index, key] of keys.entries()) {
    at[key] ??= /^\d+$/.test(keys[index + 1] ?? last) ? [] : {};
    at = at[key] as Record<string, unknown>;
  }
  at[last] = typeof value === "string" ? `${at[last] ?? ""}${value}` : value;
}

function understood({ parts, finish, usage }: ReturnType<typeof assembled>) {
  const joined = (type: "text" | "reasoning") =>
    parts.flatMap((part) => (part.type === type ? [(part as { text: string }).text] : [])).join("");
  const calls = parts.filter((part) => part.type === "call");
  return {
    text: joined("text"),
    reasoning: joined("reasoning"),
    calls: calls.map(({ name, input }) => ({ name, input })),
    finish,
    signatures: [...JSON.stringify(sentBack(parts)).matchAll(/"thoughtSignature":"([^"]+)"/g)].map(
      ([, it]) => it,
    ),
    usage,
  };
}

function expected(answers: readonly Record<string, unknown>[]) {
  const { usage, ...rest } = folded(answers);
  const thoughts = usage.thoughtsTokenCount ?? 0;
  expect(rest.finish).toBe("STOP"); // so ends every recording of this family
  return {
    ...rest,
    finish: rest.calls.length > 0 ? "tool_calls" : "end",
    usage: {
      inputTokens: usage.promptTokenCount,
      outputTokens: (usage.candidatesTokenCount ?? 0) + thoughts,
      ...(thoughts > 0 && { reasoningTokens: thoughts }),
    },
  };
}

// Two folders of the same vendor speak other protocols and are no business of this wire: `interactions/` (the
// Interactions API) and `speech-translation/` (the Live API over a socket).
describe.skipIf(!existsSync(recordings))("recorded traffic of Gemini", () => {
  const found = (pattern: string) => globSync(pattern, { cwd: recordings }).sort();
  const streams = found("vercel-ai/google/*.chunks.txt");
  const bodies = found("vercel-ai/google/*.json").filter((file) => !file.includes("-429-"));
  const sessions = found("openllmetry/gemini/*.json");
  const read = (file: string) => readFileSync(new URL(file, recordings), "utf8");

  it("exists (S0-42)", () => {
    expect([streams.length, bodies.length, sessions.length]).toEqual([9, 5, 2]);
  });

  it.each(
    streams,
  )("the stream %s yields the content of its payloads, and nothing more when cut off (S0-42, F15)", (file) => {
    const lines = read(file).trim().split("\n");
    const answers = lines.map((line) => JSON.parse(line));
    expect(understood(readAll(lines))).toEqual(expected(answers));
    expect(assembled(geminiContent.fromJson(answers))).toEqual(readAll(lines));
    for (let length = 0; length < lines.length; length += 1)
      expect(readAll(lines.slice(0, length)).finish).toBeUndefined();
  });

  it.each(bodies)("the answer %s is parsed completely, and is sent back unchanged (S0-42, S0-25)", (file) => {
    const body = JSON.parse(read(file));
    const whole = assembled(geminiContent.fromJson(body));
    expect(understood(whole)).toEqual(expected([body]));
    expect(sentBack(whole.parts)).toEqual(body.candidates[0].content.parts);
  });

  it.each(
    sessions,
  )("the session %s sends and receives the recorded requests and responses (S0-24, S0-42)", (file) => {
    for (const { request, response } of JSON.parse(read(file)).interactions) {
      const [content] = request.body.contents;
      const body = bodyOf({ history: [{ type: "user", content: content.parts[0].text }] });
      expect(body).toEqual(request.body);
      const whole = assembled(geminiContent.fromJson(response.body));
      expect(understood(whole)).toEqual(expected([response.body]));
      expect(sentBack(whole.parts)).toEqual(response.body.candidates[0].content.parts);
    }
  });

  it("a recorded refusal is a rate limit with the time to wait (F19)", () => {
    const body: unknown = JSON.parse(read("vercel-ai/google/google-429-retry-info.json"));
    expect(isRecord(body)).toBe(true);
    expect(() => geminiContent.fromJson(body)).toThrow(
      expect.objectContaining({ code: "model_rate_limited", retryable: true, retryAfterMs: 34_400 }),
    );
  });
});
