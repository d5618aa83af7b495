import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { AgentError } from "../base/errors.ts";
import { defineAgent } from "../kernel/agent.ts";
import type { Chunk, Model, ModelRequest } from "../kernel/model.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { collect } from "../testing/collect.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { type ScriptedStep, scriptedModel } from "../testing/scripted-model.ts";
import { openAiChatEncoder } from "../testing/wire-encoders.ts";
import { compatible } from "./compatible.ts";
import { type FallbackOptions, fallback } from "./fallback.ts";

const request: ModelRequest = {
  instructions: "",
  history: [],
  tools: [],
  toolChoice: "none",
  thinking: false,
};

const says = (id: string, ...steps: ScriptedStep[]) => scriptedModel(steps, { id });

async function chunksOf(model: Model, signal = new AbortController().signal): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const batch of model.stream(request, { signal })) chunks.push(...batch);
  return chunks;
}

/** What a reader is left with: a restart makes what came before it void. */
async function leftOf(models: readonly Model[], options?: FallbackOptions): Promise<readonly Chunk[]> {
  const chunks = await chunksOf(fallback(models, options));
  return chunks.slice(chunks.findLastIndex(({ type }) => type === "restart") + 1);
}

const fine: Chunk[] = [
  { type: "text", text: "Fine." },
  { type: "usage", usage: { inputTokens: 10, outputTokens: 5 } },
  { type: "finish", reason: "end" },
];

describe("fallback", () => {
  it("uses only the first model while it answers, and its id lists all models", async () => {
    const second = says("b", { text: "Second." });
    const model = fallback([says("a", { text: "Fine." }), second]);
    expect(model.id).toBe("a | b");
    expect(await chunksOf(model)).toEqual(fine);
    expect(second.requests).toEqual([]);
  });

  it.each<[string, ScriptedStep, string]>([
    ["an error that can be retried", { error: "model_overloaded" }, "model_overloaded"],
    ["an error that cannot", { error: "model_auth" }, "model_auth"],
    ["anything thrown", { error: new TypeError("x is not a function") }, "model_failed"],
    ["a stream that breaks half-way", { text: "I have pa", error: "model_unreachable" }, "model_unreachable"],
    ["a stream that ends without its end", { text: "I have pa", finish: "none" }, "stream_truncated"],
    ["an answer without words", { reasoning: "Hm." }, "empty_response"],
    ["an answer of white space", { text: " \n" }, "empty_response"],
  ])("tries the next model after %s (F38)", async (_what, step, reason) => {
    const chunks = await chunksOf(fallback([says("a", step), says("b", { text: "Fine." })]));
    const restart = chunks.findIndex(({ type }) => type === "restart");
    expect(chunks.slice(restart + 1)).toEqual(fine);
    const hasSpoken = step.text !== undefined || step.reasoning !== undefined;
    expect(restart >= 0 ? chunks[restart] : undefined).toEqual(
      hasSpoken ? { type: "restart", reason, model: "a" } : undefined,
    );
  });

  it("throws the last failure when every model fails", async () => {
    const failing = fallback([says("a", { error: "model_auth" }), says("b", { error: "context_overflow" })]);
    await expect(chunksOf(failing)).rejects.toMatchObject({ code: "context_overflow" });
    const silent = fallback([says("a", { error: "model_auth" }), says("b", { finish: "none" })]);
    await expect(chunksOf(silent)).rejects.toMatchObject({ code: "stream_truncated" });
  });

  it("passes a filtered answer on, unless configured to try the next model", async () => {
    const filtered = () => says("a", { finish: "content_filter", usage: null });
    expect(await leftOf([filtered(), says("b", { text: "Fine." })])).toEqual([
      { type: "finish", reason: "content_filter" },
    ]);
    const next = [filtered(), says("b", { text: "Fine." })];
    expect(await leftOf(next, { on: ["content_filter"] })).toEqual(fine);
  });

  it("passes an answer at the output limit on, unless configured to try the next model", async () => {
    const long = () => says("a", { text: "And so", finish: "length", usage: null });
    expect(await leftOf([long(), says("b", { text: "Fine." })])).toEqual([
      { type: "text", text: "And so" },
      { type: "finish", reason: "length" },
    ]);
    expect(await leftOf([long(), says("b", { text: "Fine." })], { on: ["output_truncated"] })).toEqual(fine);
  });

  it("ends at once when aborted, and tries no other model", async () => {
    const controller = new AbortController();
    const second = says("b", { text: "Second." });
    const first: Model = {
      id: "a",
      async *stream() {
        yield [{ type: "text", text: "I" }];
        controller.abort(new Error("enough"));
        throw new AgentError("model_unreachable", "Gone.");
      },
    };
    await expect(chunksOf(fallback([first, second]), controller.signal)).rejects.toThrow("Gone.");
    await expect(chunksOf(fallback([second]), controller.signal)).rejects.toThrow("enough");
    expect(second.requests).toEqual([]);
  });

  it("can be nested: the inner restart is not taken for an answer", async () => {
    const inner = fallback([says("a", { text: "I", finish: "none" }), says("b", {})]);
    expect(await leftOf([inner, says("c", { text: "Fine." })])).toEqual(fine);
  });

  it("wants at least one model", () => {
    expect(() => fallback([])).toThrow(expect.objectContaining({ code: "invalid_definition" }));
  });
});

const servers: ReturnType<typeof createServer>[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("two providers", () => {
  const pays = (amount: number) => [{ id: "call_1", name: "pay", arguments: `{"amount":${amount}}` }];

  /** Runs an agent that may pay, on a first provider that does this and a second one that is slow but there. */
  async function paidWith(first: RequestListener) {
    const paid: number[] = [];
    const answers = [{ calls: pays(7) }, { text: "Thank you." }];
    const urls = [
      await serve(first),
      await serve((_incoming, response) => {
        const { body, end } = openAiChatEncoder.encode(answers.shift() ?? { text: "Too often." });
        setTimeout(() => response.end(body + end), 60);
      }),
    ];
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
    const agent = defineAgent({
      name: "clerk",
      model: fallback(
        urls.map((baseURL) => compatible({ baseURL, model: "m", apiKey: "sk-test-1234567890" })),
      ),
      instructions: "Pay the bills.",
      tools: [pay],
    });
    const clock = fakeClock({ skipUpToMs: 59_000 });
    const { events, result } = await collect(run(agent, "Pay.", { store: memory(), session: "s", clock }));
    return { paid, result, restarts: events.filter(({ type }) => type === "message_restart").length };
  }

  it("one failing and one slow model produce one answer (F38)", async () => {
    const { paid, result, restarts } = await paidWith((_incoming, response) => response.destroy());
    expect(result).toMatchObject({ status: "done", text: "Thank you.", turns: 2 });
    expect(paid).toEqual([7]);
    expect(restarts).toBe(0);
  });

  it("a model that fails within a call and a slow model produce one answer; the discarded call does not run (F38)", async () => {
    const { paid, result, restarts } = await paidWith((_incoming, response) => {
      response.write(openAiChatEncoder.encode({ text: "I pay.", calls: pays(1000) }).body);
      setTimeout(() => response.destroy(), 5);
    });
    expect(result).toMatchObject({ status: "done", text: "Thank you.", turns: 2 });
    expect(result.toolCalls).toHaveLength(1);
    expect(paid).toEqual([7]);
    expect(restarts).toBe(2);
  });
});
