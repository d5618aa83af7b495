import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { run } from "../runtime/run.ts";
import { memory } from "../stores/memory.ts";
import { modelSuite } from "../testing/model-suite.ts";
import { anthropicEncoder } from "../testing/wire-encoders.ts";
import { anthropic } from "./anthropic.ts";

modelSuite("anthropic", anthropicEncoder, (baseURL) =>
  anthropic({ model: "claude-test", apiKey: "key-1234567890", baseURL }),
);

describe("a turn that Anthropic pauses", () => {
  it("is sent back unchanged, with its container, until its server-side tools are done (F22, F87)", async () => {
    const use = { type: "server_tool_use", id: "srvtoolu_1", name: "code_execution", input: { code: "1+1" } };
    const result = {
      type: "code_execution_tool_result",
      tool_use_id: "srvtoolu_1",
      content: { stdout: "2" },
    };
    const answers = [
      { content: [{ type: "text", text: "I compute. " }, use], stop_reason: "pause_turn" },
      { content: [result, { type: "text", text: "It is 2." }], stop_reason: "end_turn" },
    ];
    const container = { id: "container_1", expires_at: "2026-01-01T00:00:00Z" };
    const bodies: { messages: unknown[]; container?: string }[] = [];
    const model = anthropic({
      ...{ model: "claude-sonnet-4-5", apiKey: "key-1234567890", stream: false },
      extra: { tools: [{ type: "code_execution_20250825", name: "code_execution" }] },
      fetch: async (_, init) => {
        const answer = answers[bodies.push(JSON.parse(String(init?.body))) - 1];
        const usage = { input_tokens: 5, output_tokens: 5 };
        return Response.json({ type: "message", role: "assistant", ...answer, container, usage });
      },
    });
    const { status, text, turns } = await run(defineAgent({ name: "a", model }), "1+1?", { store: memory() });
    expect({ status, text, turns }).toEqual({ status: "done", text: "I compute. It is 2.", turns: 1 });
    expect(bodies).toHaveLength(2);
    expect(bodies[1]?.container).toBe("container_1");
    expect(bodies[1]?.messages.at(-1)).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "I compute. " }, use],
    });
  });
});
