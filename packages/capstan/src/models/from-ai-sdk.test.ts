import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import type { Entry } from "../kernel/history.ts";
import type { Chunk, ModelRequest } from "../kernel/model.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { type AiSdkModel, fromAiSdk } from "./from-ai-sdk.ts";

type Version = "v2" | "v3" | "v4";
type SdkPart = { readonly type: string; readonly [field: string]: unknown };
type SdkModel = AiSdkModel & { readonly asked: { readonly [field: string]: unknown }[] };

/** A language model by the AI SDK's public specification, that gives these parts, one list per request. */
function sdkModel(answers: readonly (readonly SdkPart[] | Error)[], version: Version = "v4"): SdkModel {
  const asked: SdkModel["asked"] = [];
  return {
    specificationVersion: version,
    provider: "acme.chat",
    modelId: "one",
    asked,
    async doStream(options) {
      const answer = answers[asked.push(options as SdkModel["asked"][number]) - 1] ?? [];
      if (answer instanceof Error) throw answer;
      return {
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: "stream-start", warnings: [] });
            for (const part of answer) controller.enqueue(part);
            controller.close();
          },
        }),
      };
    },
  };
}

const finish = (unified: string, raw: string | undefined = unified): SdkPart => ({
  type: "finish",
  finishReason: { unified, raw },
  usage: {
    inputTokens: { total: 12, noCache: 4, cacheRead: 8, cacheWrite: 0 },
    outputTokens: { total: 7, text: 5, reasoning: 2 },
  },
});
const counted: Chunk = {
  type: "usage",
  usage: { inputTokens: 12, outputTokens: 7, cachedTokens: 8, reasoningTokens: 2 },
};
const text = (words: string): SdkPart[] => [
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", delta: words },
  { type: "text-end", id: "0" },
];
const call = (input: string, more: object = {}): SdkPart => ({
  type: "tool-call",
  toolCallId: "call_1",
  toolName: "pay",
  input,
  ...more,
});
const toolInput = (...deltas: string[]): SdkPart[] => [
  { type: "tool-input-start", id: "call_1", toolName: "pay" },
  ...deltas.map((delta) => ({ type: "tool-input-delta", id: "call_1", delta })),
  { type: "tool-input-end", id: "call_1" },
];

const requestOf = (history: readonly Entry[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  instructions: "Be brief.",
  history,
  tools: [],
  toolChoice: "auto",
  thinking: false,
  ...more,
});

async function chunksOf(model: AiSdkModel, request = requestOf([{ type: "user", content: "Hi" }])) {
  const chunks: Chunk[] = [];
  const { signal } = new AbortController();
  for await (const batch of fromAiSdk(model).stream(request, { signal })) chunks.push(...batch);
  return chunks;
}

const failureOf = (model: AiSdkModel) => chunksOf(model).catch((error) => error);

/** The arguments of the first call, after the last restart. */
const argumentsIn = (chunks: readonly Chunk[]) =>
  chunks
    .slice(chunks.findLastIndex(({ type }) => type === "restart") + 1)
    .map((chunk) => (chunk.type === "call_delta" ? chunk.text : ""))
    .join("");

const promptOf = async (history: readonly Entry[], version: Version) => {
  const model = sdkModel([[...text("Yes."), finish("stop")]], version);
  await chunksOf(model, requestOf(history));
  return model.asked[0]?.prompt;
};

describe("the stream of an AI SDK model", () => {
  it("is text and reasoning, with the provider's data at the end of their block (C-27)", async () => {
    const thought = { acme: { signature: "abc" } };
    const parts = [
      { type: "reasoning-start", id: "0", providerMetadata: { acme: { signature: null } } },
      { type: "reasoning-delta", id: "0", delta: "Hm" },
      { type: "reasoning-delta", id: "0", delta: "", providerMetadata: thought },
      { type: "reasoning-end", id: "0" },
      ...text("Yes."),
      { type: "source", sourceType: "url", id: "s", url: "https://acme.test" },
      { type: "raw", rawValue: {} },
      finish("stop"),
    ];
    expect(await chunksOf(sdkModel([parts]))).toEqual([
      { type: "reasoning", text: "Hm" },
      {
        type: "reasoning",
        text: "",
        opaque: { wire: "ai-sdk", data: { provider: "acme.chat", data: thought } },
      },
      { type: "text", text: "Yes." },
      counted,
      { type: "finish", reason: "end" },
    ]);
  });

  it("is inconsistent if another response starts in it after output (F15)", async () => {
    const metadata = (id: string) => ({ type: "response-metadata", id });
    const parts = [
      metadata("a"),
      metadata("b"),
      ...text("Ye"),
      metadata("c"),
      ...text("Yes."),
      finish("stop"),
    ];
    expect(await failureOf(sdkModel([parts]))).toMatchObject({
      code: "stream_inconsistent",
      retryable: true,
    });
  });

  it("is calls, whose arguments arrive in pieces", async () => {
    const parts = [...toolInput('{"amo', 'unt":7}'), call('{"amount":7}'), finish("tool-calls")];
    expect(await chunksOf(sdkModel([parts]))).toEqual([
      { type: "call_start", index: 0, id: "call_1", name: "pay" },
      { type: "call_delta", index: 0, text: '{"amo' },
      { type: "call_delta", index: 0, text: 'unt":7}' },
      { type: "call_start", index: 0, id: "call_1", name: "pay" },
      counted,
      { type: "finish", reason: "tool_calls" },
    ]);
  });

  it.each<[string, SdkPart[], string]>([
    ["that was not streamed", [call('{"amount":7}')], '{"amount":7}'],
    ["whose end was not streamed", [...toolInput('{"amount"'), call('{"amount":7}')], '{"amount":7}'],
    ["without arguments", [...toolInput(), call("{}")], "{}"],
    ["written differently", [...toolInput('{ "amount": 7 }'), call('{"amount":7}')], '{ "amount": 7 }'],
    [
      "that was corrected",
      [...text("I pay."), ...toolInput('{"amount":1'), call('{"amount":7}')],
      '{"amount":7}',
    ],
    ["corrected to nothing of it", [...toolInput('{"amount":1000}'), call('{"amount":7}')], '{"amount":7}'],
  ])("is the arguments of the finished call, also of one %s", async (_what, parts, expected) => {
    expect(argumentsIn(await chunksOf(sdkModel([[...parts, finish("tool-calls")]])))).toBe(expected);
  });

  it("supports the finish reason and usage of v2 too", async () => {
    const usage = {
      inputTokens: 12,
      outputTokens: 7,
      totalTokens: 19,
      cachedInputTokens: 8,
      reasoningTokens: 2,
    };
    const parts = [...text("Yes."), { type: "finish", finishReason: "length", usage }];
    expect((await chunksOf(sdkModel([parts], "v2"))).slice(1)).toEqual([
      counted,
      { type: "finish", reason: "length" },
    ]);
  });

  it.each([
    ["stop", "stop", { reason: "end" }],
    ["tool-calls", "tool_calls", { reason: "tool_calls" }],
    ["length", "max_tokens", { reason: "length" }],
    ["content-filter", "SAFETY", { reason: "content_filter" }],
    ["content-filter", "refusal", { reason: "refusal" }],
    ["stop", "pause_turn", { reason: "pause" }],
    ["other", "LANGUAGE", { reason: "other", detail: "LANGUAGE" }],
  ])("ends with %s (%s) as %o", async (unified, raw, end) => {
    expect((await chunksOf(sdkModel([[finish(unified, raw)]]))).at(-1)).toEqual({ type: "finish", ...end });
  });

  it.each<[string, unknown, Version]>([
    ["unknown", "unknown", "v2"],
    ["other, for no reason", { unified: "other", raw: undefined }, "v3"],
  ])("has no finish when it ends with %s, which marks a truncated stream (F09)", async (_what, finishReason, version) => {
    const parts = [...text("Ye"), { type: "finish", finishReason, usage: {} }];
    expect(await chunksOf(sdkModel([parts], version))).toEqual([{ type: "text", text: "Ye" }]);
  });

  it("fails when it ends within a call (F10)", async () => {
    const parts = [...toolInput('{"amount":7}'), finish("stop")];
    expect(await failureOf(sdkModel([parts]))).toMatchObject({ code: "stream_truncated" });
  });

  it("keeps provider-executed calls, and does not run them", async () => {
    const own = [
      { type: "tool-input-start", id: "call_1", toolName: "search", providerExecuted: true },
      { type: "tool-input-delta", id: "call_1", delta: '{"q":1}' },
      call('{"q":1}', { toolName: "search", providerExecuted: true, providerMetadata: { acme: { n: 1 } } }),
      { type: "tool-result", toolCallId: "call_1", toolName: "search", result: ["found"] },
    ];
    const chunks = await chunksOf(sdkModel([[...own, ...text("Found."), finish("stop")]]));
    expect(chunks.map(({ type }) => type)).toEqual(["opaque", "opaque", "text", "usage", "finish"]);
    const parts = chunks.filter((chunk) => chunk.type === "opaque");
    expect(
      await promptOf(
        [
          { type: "user", content: "Hi" },
          { type: "assistant", parts },
        ],
        "v4",
      ),
    ).toMatchObject([
      {},
      {},
      {
        role: "assistant",
        content: [
          {
            type: "tool-call",
            toolCallId: "call_1",
            toolName: "search",
            input: { q: 1 },
            providerExecuted: true,
            providerOptions: { acme: { n: 1 } },
          },
          {
            type: "tool-result",
            toolCallId: "call_1",
            toolName: "search",
            output: { type: "json", value: ["found"] },
          },
        ],
      },
    ]);
  });
});

describe("a request to an AI SDK model", () => {
  const history: readonly Entry[] = [
    { type: "summary", text: "They met." },
    {
      type: "user",
      content: [
        { type: "text", text: "See" },
        { type: "image", mediaType: "image/png", data: "QUJD" },
        { type: "file", mediaType: "application/pdf", url: "https://acme.test/a.pdf" },
      ],
    },
    {
      type: "assistant",
      parts: [
        {
          type: "reasoning",
          text: "Hm",
          opaque: { wire: "ai-sdk", data: { provider: "acme.chat", data: { acme: { signature: "abc" } } } },
        },
        { type: "reasoning", text: "Ha", opaque: { wire: "anthropic", data: { signature: "no" } } },
        { type: "text", text: "I pay." },
        { type: "opaque", data: { wire: "gemini", data: {} } },
        { type: "call", id: "call_1~2", providerId: "call_1", name: "pay", input: { amount: 7 } },
        { type: "call", id: "call_1~3", providerId: "call_1", name: "pay", input: {}, raw: "{" },
      ],
    },
    {
      type: "result",
      callId: "call_1~2",
      name: "pay",
      status: "ok",
      content: [
        { type: "text", text: "Paid." },
        { type: "image", mediaType: "image/png", data: "QUJD" },
        { type: "image", mediaType: "image/png", url: "https://acme.test/a.png" },
      ],
    },
    { type: "result", callId: "call_1~3", name: "pay", status: "error", content: "No." },
  ];

  const files = {
    v2: ["QUJD", new URL("https://acme.test/a.pdf")],
    v3: ["QUJD", new URL("https://acme.test/a.pdf")],
    v4: [
      { type: "data", data: "QUJD" },
      { type: "url", url: new URL("https://acme.test/a.pdf") },
    ],
  };
  const resultFiles = {
    v2: [
      { type: "media", mediaType: "image/png", data: "QUJD" },
      { type: "text", text: "[image image/png] https://acme.test/a.png" },
    ],
    v3: [
      { type: "image-data", mediaType: "image/png", data: "QUJD" },
      { type: "image-url", url: "https://acme.test/a.png" },
    ],
    v4: [
      { type: "file", mediaType: "image/png", data: { type: "data", data: "QUJD" } },
      {
        type: "file",
        mediaType: "image/png",
        data: { type: "url", url: new URL("https://acme.test/a.png") },
      },
    ],
  };

  it.each<Version>(["v2", "v3", "v4"])("writes the whole history in %s", async (version) => {
    expect(await promptOf(history, version)).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Summary of the conversation so far:\nThey met." }] },
      {
        role: "user",
        content: [
          { type: "text", text: "See" },
          { type: "file", mediaType: "image/png", data: files[version][0] },
          { type: "file", mediaType: "application/pdf", data: files[version][1] },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm", providerOptions: { acme: { signature: "abc" } } },
          { type: "reasoning", text: "Ha" },
          { type: "text", text: "I pay." },
          { type: "tool-call", toolCallId: "call_1", toolName: "pay", input: { amount: 7 } },
          { type: "tool-call", toolCallId: "call_1_3", toolName: "pay", input: { _raw: "{" } },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "call_1",
            toolName: "pay",
            output: { type: "content", value: [{ type: "text", text: "Paid." }, ...resultFiles[version]] },
          },
          {
            type: "tool-result",
            toolCallId: "call_1_3",
            toolName: "pay",
            output: { type: "error-text", value: "No." },
          },
        ],
      },
    ]);
  });

  it("offers tools, the choice among them, the form of the answer and the signal to another SDK (S3-17)", async () => {
    const model = sdkModel([
      [...text("Yes."), finish("stop")],
      [...text("Yes."), finish("stop")],
    ]);
    const input = { type: "object" } as const;
    const tools = [{ name: "pay", description: "Pays.", input }];
    await chunksOf(model, requestOf([], { tools, toolChoice: "required", output: { type: "object" } }));
    expect(model.asked[0]).toMatchObject({
      tools: [{ type: "function", name: "pay", description: "Pays.", inputSchema: input }],
      toolChoice: { type: "required" },
      responseFormat: { type: "json", schema: { type: "object" } },
      abortSignal: expect.any(AbortSignal),
    });
    await chunksOf(model);
    expect(Object.keys(model.asked[1] ?? {})).toEqual(["prompt", "abortSignal"]);
  });

  it("is named after its provider and model, and rejects other specifications", () => {
    expect(fromAiSdk(sdkModel([])).id).toBe("acme/one");
    expect(() => fromAiSdk({ ...sdkModel([]), specificationVersion: "v1" })).toThrow(
      'fromAiSdk supports the specifications v2, v3, v4, not "v1".',
    );
  });
});

describe("a failing AI SDK model", () => {
  const apiError = (statusCode: number | undefined, isRetryable: boolean, message = "No.") =>
    Object.assign(new Error(message), {
      name: "AI_APICallError",
      statusCode,
      isRetryable,
      responseHeaders: { "retry-after": "3" },
      requestBodyValues: { secret: true },
    });

  it.each<[number | undefined, boolean, string]>([
    [401, false, "model_auth"],
    [400, false, "model_rejected"],
    [404, false, "model_not_found"],
    [429, true, "model_rate_limited"],
    [529, true, "model_overloaded"],
    [413, false, "context_overflow"],
    [undefined, true, "model_unreachable"],
    [undefined, false, "model_failed"],
  ])("with status %s becomes our own error with its code (F06, F07, F08)", async (status, retryable, code) => {
    const error = await failureOf(sdkModel([apiError(status, retryable)]));
    expect(error).toMatchObject({ code, retryable, retryAfterMs: 3000 });
    expect(error.cause).toBeUndefined();
  });

  it("does not reveal the key that the provider quoted (A110)", async () => {
    const { message } = await failureOf(sdkModel([apiError(401, false, "Bad key sk-secret-1234567890")]));
    expect(message).toBe("acme/one failed with 401: Bad key ***");
  });

  it("within the response fails it (F16)", async () => {
    const parts = [...text("Ye"), { type: "error", error: { type: "overloaded_error", message: "Busy." } }];
    expect(await failureOf(sdkModel([[...parts, finish("error")]]))).toMatchObject({
      code: "model_failed",
      retryable: true,
      message: "acme/one failed: Busy.",
    });
    expect(await failureOf(sdkModel([[...text("Ye"), finish("error")]]))).toMatchObject({
      code: "model_failed",
    });
  });

  it("lets an abort be an abort", async () => {
    const abort = new DOMException("Stopped.", "AbortError");
    expect(await failureOf(sdkModel([abort]))).toBe(abort);
  });
});

describe("an agent on an AI SDK model", () => {
  it.each<Version>([
    "v2",
    "v3",
    "v4",
  ])("calls its tools and answers, retried when cut off, in %s", async (version) => {
    const paid: number[] = [];
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      input: { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] },
      effects: "send",
      execute: (input) => {
        paid.push((input as { amount: number }).amount);
        return "paid";
      },
    });
    const ended = (reason: string) =>
      version === "v2" ? { ...finish(reason), finishReason: reason, usage: {} } : finish(reason);
    const metadata = { acme: { thoughtSignature: "xyz" } };
    const model = sdkModel(
      [
        toolInput('{"amount":1000}'),
        [
          ...toolInput('{"amount":7}'),
          call('{"amount":7}', { providerMetadata: metadata }),
          ended("tool-calls"),
        ],
        [...text("Thank you."), ended("stop")],
      ],
      version,
    );
    const agent = defineAgent({ name: "clerk", model: fromAiSdk(model), instructions: "Pay.", tools: [pay] });
    const clock = fakeClock({ skipUpToMs: 90_000 });
    const result = await run(agent, "Pay.", { store: memory(), session: "s", clock });
    expect(result).toMatchObject({ status: "done", text: "Thank you.", turns: 2 });
    expect(paid).toEqual([7]);
    expect(model.asked).toHaveLength(3);
    expect(model.asked[2]?.prompt).toMatchObject([
      { role: "system" },
      { role: "user" },
      { role: "assistant", content: [{ toolCallId: "call_1", providerOptions: metadata }] },
      { role: "tool", content: [{ toolCallId: "call_1", output: { type: "text", value: "paid" } }] },
    ]);
  });
});
