// The index of the package hides its types from TypeScript's resolution for Node, so they come from their own files.
import type {
  Chat,
  ChatCompletionChunk,
  ChatCompletionRequestStreaming,
} from "@mlc-ai/web-llm/lib/openai_api_protocols/chat_completion.js";
import type { MLCEngineInterface } from "@mlc-ai/web-llm/lib/types.js";
import { describe, expect, expectTypeOf, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { type WebLlmEngine, webLlm } from "./web-llm.ts";

type Answer = string | Error;

/** Follows the types of the package, and the checks that its engine makes of a request. */
function createFakeEngine(answers: Answer[]) {
  const requests: ChatCompletionRequestStreaming[] = [];
  let isInterrupted = false;
  async function* stream(text: string): AsyncGenerator<ChatCompletionChunk> {
    const base = { id: "chatcmpl", created: 1, model: "tiny", object: "chat.completion.chunk" } as const;
    for (const piece of text.match(/[\s\S]{1,5}/g) ?? []) {
      if (isInterrupted) break;
      yield {
        ...base,
        choices: [{ index: 0, delta: { role: "assistant", content: piece }, finish_reason: null }],
      };
    }
    const reason = isInterrupted ? "abort" : "stop";
    yield { ...base, choices: [{ index: 0, delta: {}, finish_reason: reason }] };
    const extra = {
      e2e_latency_s: 1,
      prefill_tokens_per_s: 1,
      decode_tokens_per_s: 1,
      time_to_first_token_s: 1,
      time_per_output_token_s: 1,
    };
    yield {
      ...base,
      choices: [],
      usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15, extra },
    };
  }
  const create = async (request: ChatCompletionRequestStreaming) => {
    requests.push(request);
    isInterrupted = false;
    const roles = request.messages.map(({ role }) => role);
    if (roles.lastIndexOf("system") > 0) throw new Error("SystemMessageOrderError");
    if (!["user", "tool"].includes(roles.at(-1) ?? "")) throw new Error("MessageOrderError");
    if (request.tools) throw new Error("UnsupportedModelIdError");
    const answer = answers.shift() ?? "Done.";
    if (answer instanceof Error) throw answer;
    return stream(answer);
  };
  const interruptGenerate = () => {
    isInterrupted = true;
  };
  const engine = { chat: { completions: { create } }, interruptGenerate };
  return { engine: engine as WebLlmEngine, requests };
}

const add = defineTool({
  name: "add",
  description: "Adds numbers",
  input: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  } as const,
  effects: "none",
  execute: ({ a, b }) => String(a + b),
});

describe("a model in a WebLLM engine", () => {
  it("fits the engine of the package, also in a worker", () => {
    expectTypeOf<Chat>().not.toBeAny();
    expectTypeOf<ChatCompletionRequestStreaming>().not.toBeAny();
    type Engine = Pick<MLCEngineInterface, "interruptGenerate"> & { readonly chat: Chat };
    expectTypeOf<Engine>().toExtend<WebLlmEngine>();
  });

  it("streams text and usage, with the settings that the engine knows", async () => {
    const { engine, requests } = createFakeEngine(["Hello there."]);
    const model = webLlm(engine, { model: "tiny", settings: { temperature: 0.1, topP: 0.9 } });
    const settings = { temperature: 0.5, seed: 3, stop: "END", maxOutputTokens: 9, effort: "none" } as const;
    const texts: string[] = [];
    const agent = defineAgent({ name: "a", model, instructions: "Be brief.", settings });
    const running = run(agent, "Hi");
    for await (const event of running) if (event.type === "content_delta") texts.push(event.delta);
    expect(await running).toMatchObject({
      status: "done",
      text: "Hello there.",
      usage: { inputTokens: 12, outputTokens: 3 },
    });
    expect(texts.length).toBeGreaterThan(1);
    expect(requests[0]).toEqual({
      model: "tiny",
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: "system", content: expect.stringContaining("Be brief.") },
        { role: "user", content: "Hi" },
      ],
      temperature: 0.5,
      top_p: 0.9,
      seed: 3,
      stop: "END",
      max_tokens: 9,
      extra_body: { enable_thinking: false },
    });
  });

  it("calls tools as text, because the engine takes them for few models only", async () => {
    const { engine, requests } = createFakeEngine([
      'TOOL_CALL: add\nARGUMENTS: {"a": 2, "b": 3}',
      "It is 5.",
    ]);
    const agent = defineAgent({ name: "a", model: webLlm(engine, { model: "tiny" }), tools: [add] });
    const result = await run(agent, "2 + 3?");
    expect(result).toMatchObject({ status: "done", text: "It is 5.", turns: 2 });
    expect(JSON.stringify(requests[1]?.messages)).toContain("5");
    for (const request of requests) expect(request.tools).toBeUndefined();
  });

  it("has the engine limit a structured answer to its schema", async () => {
    const { engine, requests } = createFakeEngine(['{"city":"Oslo"}']);
    const output = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
    const agent = defineAgent({ name: "a", model: webLlm(engine, { model: "tiny" }), output });
    expect((await run(agent, "Where?")).output).toEqual({ city: "Oslo" });
    const format = requests[0]?.response_format;
    expect(format?.type).toBe("json_object");
    expect(JSON.parse(format?.schema ?? "")).toMatchObject(output);
  });

  it("interrupts the engine when the run is cancelled", async () => {
    const { engine } = createFakeEngine(["word ".repeat(1000)]);
    const running = run(defineAgent({ name: "a", model: webLlm(engine, { model: "tiny" }) }), "Hi");
    let length = 0;
    for await (const event of running)
      if (event.type === "content_delta") {
        length += event.delta.length;
        running.cancel();
      }
    expect((await running).status).toBe("cancelled");
    expect(length).toBeLessThan(1000);
  });

  it.each([
    ["ContextWindowSizeExceededError", "context_overflow"],
    ["ModelNotLoadedError", "model_not_found"],
    ["DeviceLostError", "out_of_memory"],
    ["AnotherError", "model_failed"],
  ])("reports %s as %s", async (name, code) => {
    const { engine } = createFakeEngine([Object.assign(new Error("It broke."), { name })]);
    const agent = defineAgent({ name: "a", model: webLlm(engine, { model: "tiny" }) });
    expect(await run(agent, "Hi")).toMatchObject({ status: "failed", error: { code } });
  });

  it("warns of settings that mean nothing in a browser", () => {
    const model = webLlm(createFakeEngine([]).engine, { model: "tiny" });
    expect(model.checkSettings?.({ serviceTier: "flex", seed: 1 }).map(({ field }) => field)).toEqual([
      "serviceTier",
    ]);
  });
});
