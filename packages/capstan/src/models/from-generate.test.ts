import { describe, expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { defineTool } from "../kernel/tool.ts";
import { run } from "../runtime/run.ts";
import { fromGenerate, type Generate, type Generated } from "./from-generate.ts";

const weather = defineTool({
  name: "weather",
  description: "Weather of a city",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => `Sunny in ${city}`,
});

function agentOf(client: Generate | { readonly generate: Generate }) {
  return defineAgent({
    name: "helper",
    model: fromGenerate(client),
    instructions: "Be brief.",
    tools: [weather],
  });
}

/** Gives these answers, one per call. */
function answering(...answers: unknown[]): Generate {
  return () => answers.shift() as Generated;
}

describe("a model from one generate function", () => {
  it("is given the history, the tools and the instructions, and its text is the answer (S4-01)", async () => {
    const asked: unknown[] = [];
    const result = await run(
      agentOf((messages, tools, instructions, { signal }) => {
        asked.push([messages, tools, instructions, signal.aborted]);
        return { text: "Hello." };
      }),
      "Hi",
    );
    expect(result).toMatchObject({ status: "done", text: "Hello." });
    expect(asked).toEqual([
      [
        [{ type: "user", content: "Hi" }],
        [{ name: "weather", description: "Weather of a city", input: weather.schema.json }],
        "Be brief.",
        false,
      ],
    ]);
  });

  it("has its calls run, and is given their results (S3-14)", async () => {
    const seen: unknown[] = [];
    const result = await run(
      agentOf((messages) => {
        seen.push(messages.at(-1));
        return messages.length === 1
          ? { text: "Looking.", toolCalls: [{ id: "w1", name: "weather", args: { city: "Oslo" } }] }
          : { text: "Sunny." };
      }),
      "Weather in Oslo?",
    );
    expect(result).toMatchObject({ status: "done", text: "Sunny.", turns: 2 });
    expect(seen[1]).toEqual({
      type: "result",
      callId: "w1",
      name: "weather",
      status: "ok",
      content: "Sunny in Oslo",
      reads: ["private"],
    });
    expect(result.history[1]).toMatchObject({
      parts: [{ type: "text", text: "Looking." }, { type: "call" }],
    });
  });

  it("does not have to assign call ids: each call gets one (F27)", async () => {
    const twice = { name: "weather", args: { city: "Oslo" } };
    const result = await run(agentOf(answering({ toolCalls: [twice, twice] }, { text: "Ok." })), "Go");
    expect(result.toolCalls.map(({ id, status }) => [id, status])).toEqual([
      ["call_1_0", "ok"],
      ["call_1_1", "ok"],
    ]);
  });

  it("may omit the arguments of a call, which the schema then validates (F31, S1-29)", async () => {
    const result = await run(agentOf(answering({ toolCalls: [{ name: "weather" }] }, { text: "Ok." })), "Go");
    expect(result.toolCalls).toMatchObject([
      { input: {}, status: "error", result: expect.stringContaining("city") },
    ]);
  });

  it("may be a method of a client that uses its own fields", async () => {
    class Client {
      readonly greeting = "Hello from the field.";
      generate() {
        return { text: this.greeting };
      }
    }
    expect((await run(agentOf(new Client()), "Hi")).text).toBe("Hello from the field.");
  });

  it("reports no usage, so it is estimated", async () => {
    const result = await run(agentOf(answering({ text: "Hello." })), "Hi");
    expect(result.usage).toMatchObject({ estimated: true, outputTokens: 2 });
  });

  it.each([
    ["nothing", undefined],
    ["a text", "Hello."],
    ["a list", [{ text: "Hello." }]],
  ])("that returns %s fails the run with a message that names the valid results", async (_what, answer) => {
    const result = await run(agentOf(answering(answer)), "Hi");
    expect(result).toMatchObject({
      status: "failed",
      error: { code: "model_failed", message: "generate must return { text, toolCalls }." },
    });
  });

  it("may keep or change the list it was given without changing the history", async () => {
    const result = await run(
      agentOf((messages) => {
        (messages as unknown[]).length = 0;
        return { text: "Gone." };
      }),
      "Hi",
    );
    expect(result.history).toHaveLength(2);
  });
});
