import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { Json } from "../base/json.ts";
import { defineAgent } from "../kernel/agent.ts";
import type { Event } from "../kernel/event.ts";
import { defineTool } from "../kernel/tool.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { type Client, createClient } from "./create-client.ts";

const model = scriptedModel([]);
const weather = defineTool({
  name: "weather",
  description: "",
  input: z.object({ city: z.string() }),
  execute: ({ city }) => city,
});
const planner = defineAgent({
  name: "planner",
  model,
  tools: [weather],
  output: z.object({ city: z.string() }),
});
const counter = defineAgent({ name: "counter", model, output: z.object({ count: z.number() }) });
const agents = [planner, counter];

describe("a client that knows the agents of its server", () => {
  const client = createClient<typeof agents>();

  it("types the output of the agent whose run was started", async () => {
    const { runId } = await client.runs.start({ agent: "planner", input: "Go" });
    const { result } = await client.runs.get(runId);
    expectTypeOf(result?.output).toEqualTypeOf<{ city: string } | undefined>();
    if (result?.status === "done") expectTypeOf(result.output).toEqualTypeOf<{ city: string }>();
    expectTypeOf(result).not.toHaveProperty("orThrow");
  });

  it("types the calls in the events of that run", async () => {
    const { runId } = await client.runs.start({ agent: "planner", input: "Go" });
    for await (const event of client.runs.events(runId))
      if (event.type === "tool_call_start" && event.name === "weather")
        expectTypeOf(event.arguments).toEqualTypeOf<{ city: string }>();
  });

  it("knows that a run whose agent is not known is of one of the agents", async () => {
    const { result } = await client.runs.get("run_1");
    expectTypeOf(result?.output).toEqualTypeOf<{ city: string } | { count: number } | undefined>();
    const started = await client.runs.start({ input: "Go" });
    const details = await client.runs.get(started.runId);
    expectTypeOf(details.result?.output).toEqualTypeOf<{ city: string } | { count: number } | undefined>();
  });

  it("rejects the name of another agent", () => {
    // @ts-expect-error: there is no such agent
    void client.runs.start({ agent: "planer", input: "Go" });
  });

  it("can know a single agent", () => {
    expectTypeOf(createClient<typeof planner>()).toEqualTypeOf<Client<typeof planner>>();
  });
});

describe("a client that knows no agents", () => {
  it("takes any name, and any JSON is an output", async () => {
    const client = createClient();
    expectTypeOf(client).toEqualTypeOf<Client>();
    const { runId } = await client.runs.start({ agent: "anyone", input: "Go" });
    const { result } = await client.runs.get(runId);
    expectTypeOf(result?.output).toEqualTypeOf<Json | undefined>();
    expectTypeOf(client.runs.events(runId)).toEqualTypeOf<AsyncIterableIterator<Event, void, undefined>>();
  });
});
