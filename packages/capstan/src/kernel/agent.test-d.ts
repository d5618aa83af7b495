import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import { Type } from "typebox";
import * as v from "valibot";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { Json } from "../base/json.ts";
import { local } from "../engines/local.ts";
import { agentTool } from "../features/nested/agent-tool.ts";
import type { Result } from "../runtime/result.ts";
import { resume, run } from "../runtime/run.ts";
import type { Run } from "../runtime/run-handle.ts";
import { session } from "../sessions/session.ts";
import { memory } from "../stores/memory.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { type Agent, defineAgent, type InstructionsInput } from "./agent.ts";
import type { Event } from "./event.ts";
import type { AgentContext, AgentOutput } from "./infer-agent.ts";
import { dateSection, joinInstructions, standardInstructions } from "./prompt.ts";
import { defineTool, type Tool, type ToolContext } from "./tool.ts";

type Trip = { city: string; days?: number; unit: "celsius" | "fahrenheit"; stops: { name: string }[] };
type User = { user: string };

const model = scriptedModel([]);
const store = memory();

const weather = defineTool({
  name: "weather",
  description: "",
  input: z.object({ city: z.string(), days: z.number().default(1) }),
  execute: ({ city, days }) => `${city} ${days}`,
});
const mail = defineTool({
  name: "mail",
  description: "",
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  execute: ({ to }, { context }: ToolContext<User>) => `${to} ${context.user}`,
});
const query = defineTool({
  name: "query",
  description: "",
  input: Type.Object({ sql: Type.String() }),
  execute: ({ sql }, { context }: ToolContext<{ db: { query(sql: string): string } }>) =>
    context.db.query(sql),
});
const tripJsonSchema = {
  type: "object",
  properties: {
    city: { type: "string" },
    days: { type: "integer" },
    unit: { enum: ["celsius", "fahrenheit"] },
    stops: {
      type: "array",
      items: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    },
  },
  required: ["city", "unit", "stops"],
} as const;

describe("the output of a run is inferred", () => {
  it("from zod", async () => {
    const output = z.object({
      city: z.string(),
      days: z.number().exactOptional(),
      unit: z.enum(["celsius", "fahrenheit"]),
      stops: z.array(z.object({ name: z.string() })),
    });
    const result = await run(defineAgent({ name: "a", model, output }), "Go");
    expectTypeOf(result.output).toEqualTypeOf<Trip | undefined>();
  });

  it("from valibot", async () => {
    const output = toStandardJsonSchema(
      v.object({
        city: v.string(),
        days: v.exactOptional(v.number()),
        unit: v.picklist(["celsius", "fahrenheit"]),
        stops: v.array(v.object({ name: v.string() })),
      }),
    );
    const result = await run(defineAgent({ name: "a", model, output }), "Go");
    expectTypeOf(result.output).toEqualTypeOf<Trip | undefined>();
  });

  it("from arktype", async () => {
    const output = type({
      city: "string",
      "days?": "number",
      unit: "'celsius' | 'fahrenheit'",
      stops: type({ name: "string" }).array(),
    });
    const result = await run(defineAgent({ name: "a", model, output }), "Go");
    expectTypeOf(result.output).toEqualTypeOf<Trip | undefined>();
  });

  it("from TypeBox", async () => {
    const output = Type.Object({
      city: Type.String(),
      days: Type.Optional(Type.Number()),
      unit: Type.Enum(["celsius", "fahrenheit"]),
      stops: Type.Array(Type.Object({ name: Type.String() })),
    });
    const result = await run(defineAgent({ name: "a", model, output }), "Go");
    expectTypeOf(result.output).toEqualTypeOf<Trip | undefined>();
  });

  it("from JSON Schema, in place or declared `as const`", async () => {
    const named = await run(defineAgent({ name: "a", model, output: tripJsonSchema }), "Go");
    expectTypeOf(named.output).toEqualTypeOf<Trip | undefined>();
    const inPlace = defineAgent({
      name: "a",
      model,
      output: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    });
    expectTypeOf((await run(inPlace, "Go")).output).toEqualTypeOf<{ city: string } | undefined>();
  });

  it("as the JSON that is stored: dates are texts, and no field is undefined", async () => {
    const output = z.object({
      at: z.iso.datetime().transform((text) => new Date(text)),
      note: z.string().optional(),
    });
    const result = await run(defineAgent({ name: "a", model, output }), "Go");
    expectTypeOf(result.output).toEqualTypeOf<{ at: string; note?: string } | undefined>();
  });

  it("as undefined without a schema, and as any JSON of a schema that is not known", async () => {
    expectTypeOf((await run(defineAgent({ name: "a", model }), "Go")).output).toEqualTypeOf<undefined>();
    const output: object = tripJsonSchema;
    const late = defineAgent({ name: "a", model, output });
    expectTypeOf((await run(late, "Go")).output).toEqualTypeOf<Json | undefined>();
  });
});

describe("the output", () => {
  const planner = defineAgent({ name: "planner", model, output: z.object({ city: z.string() }) });

  it("is there when the run is done, and in no other result", async () => {
    const result = await run(planner, "Go");
    if (result.status === "done") expectTypeOf(result.output).toEqualTypeOf<{ city: string }>();
    else expectTypeOf(result.output).toEqualTypeOf<undefined>();
    expectTypeOf(result.orThrow().output).toEqualTypeOf<{ city: string }>();
    // @ts-expect-error: a run that is not done has no output
    result.output.city;
  });

  it("is that of the answering agent after a handoff", async () => {
    const desk = defineAgent({ name: "desk", model, handoffs: [planner] });
    const result = await run(desk, "Go");
    expectTypeOf(result.output).toEqualTypeOf<{ city: string } | undefined>();
    expectTypeOf<AgentOutput<typeof desk>>().toEqualTypeOf<{ city: string } | undefined>();
  });

  it("is known when a run is continued, resumed and opened by an engine", async () => {
    expectTypeOf((await run(planner, "Go").approve("c1")).orThrow().output).toEqualTypeOf<{ city: string }>();
    expectTypeOf((await resume(planner, { store, runId: "r" })).orThrow().output).toEqualTypeOf<{
      city: string;
    }>();
    const engine = local({ store, agents: [planner] });
    expectTypeOf((await engine.run(planner, "Go")).orThrow().output).toEqualTypeOf<{ city: string }>();
    expectTypeOf((await engine.open("r")).orThrow().output).toEqualTypeOf<{ city: string }>();
    expectTypeOf((await engine.getResult("r")).orThrow().output).toEqualTypeOf<{ city: string }>();
  });

  it("is known in a session", async () => {
    const result = await session(store, "s").run(planner, "Go");
    expectTypeOf(result.orThrow().output).toEqualTypeOf<{ city: string }>();
  });

  it("of an engine with several agents is one of theirs", async () => {
    const counter = defineAgent({ name: "counter", model, output: z.object({ count: z.number() }) });
    const engine = local({ store, agents: [planner, counter] });
    expectTypeOf((await engine.open("r")).orThrow().output).toEqualTypeOf<
      { city: string } | { count: number }
    >();
    expectTypeOf((await engine.run(counter, "Go")).orThrow().output).toEqualTypeOf<{ count: number }>();
  });
});

describe("the context is inferred", () => {
  it("from the schema of zod, valibot, arktype, TypeBox and JSON Schema", () => {
    const schemas = [
      defineAgent({ name: "a", model, context: z.object({ user: z.string() }) }),
      defineAgent({ name: "a", model, context: v.object({ user: v.string() }) }),
      defineAgent({ name: "a", model, context: type({ user: "string" }) }),
      defineAgent({ name: "a", model, context: Type.Object({ user: Type.String() }) }),
      defineAgent({
        name: "a",
        model,
        context: { type: "object", properties: { user: { type: "string" } }, required: ["user"] },
      }),
    ];
    expectTypeOf<AgentContext<(typeof schemas)[number]>>().toEqualTypeOf<User>();
  });

  it("as it is given, before defaults: it is passed on unchanged", () => {
    const agent = defineAgent({ name: "a", model, context: z.object({ role: z.string().default("guest") }) });
    expectTypeOf<AgentContext<typeof agent>>().toEqualTypeOf<{ role?: string | undefined }>();
  });

  it("for instructions, in any order of the fields", () => {
    defineAgent({
      name: "a",
      model,
      instructions: ({ context }) => context.user,
      tools: [mail],
      context: z.object({ user: z.string() }),
    });
    defineAgent({ name: "a", model, tools: [mail], instructions: async ({ context }) => context.user });
  });

  it("from all tools, dynamic tools, sub-agents, handoff targets and instructions", () => {
    const both = defineAgent({ name: "both", model, tools: [weather, mail, query] });
    expectTypeOf<AgentContext<typeof both>>().toExtend<User & { db: object }>();
    const dynamic = defineAgent({ name: "dynamic", model, tools: () => [weather, mail] });
    expectTypeOf<AgentContext<typeof dynamic>>().toEqualTypeOf<User>();
    const parent = defineAgent({ name: "parent", model, tools: [agentTool(dynamic)] });
    expectTypeOf<AgentContext<typeof parent>>().toEqualTypeOf<User>();
    const desk = defineAgent({ name: "desk", model, handoffs: [dynamic] });
    expectTypeOf<AgentContext<typeof desk>>().toEqualTypeOf<User>();
    const fallback = defineAgent({ name: "fallback", model, fallbackTool: mail });
    expectTypeOf<AgentContext<typeof fallback>>().toEqualTypeOf<User>();
    const instructed = defineAgent({
      name: "instructed",
      model,
      instructions: ({ context }: InstructionsInput<{ role: string }>) => context.role,
      tools: [mail],
    });
    expectTypeOf<AgentContext<typeof instructed>>().toEqualTypeOf<{ role: string } & User>();
  });

  it("from joined instructions", () => {
    const instructions = joinInstructions<User>([
      "Help.",
      dateSection,
      standardInstructions("a guide"),
      ({ context }) => context.user,
    ]);
    const agent = defineAgent({ name: "a", model, instructions, tools: [weather] });
    expectTypeOf<AgentContext<typeof agent>>().toEqualTypeOf<User>();
    const joined = defineAgent({
      name: "a",
      model,
      tools: [mail],
      instructions: joinInstructions(["Help.", dateSection, ({ turn }) => `Turn ${turn}`]),
    });
    expectTypeOf<AgentContext<typeof joined>>().toEqualTypeOf<User>();
  });

  it("as unknown if nothing needs one", () => {
    const agent = defineAgent({ name: "a", model, tools: [weather], instructions: "Help." });
    expectTypeOf<AgentContext<typeof agent>>().toBeUnknown();
    run(agent, "Go");
    run(agent, "Go", { context: 5 });
  });

  it("for needsApproval, whose annotation also types execute", () => {
    defineTool({
      name: "a",
      description: "",
      input: z.object({ to: z.string() }),
      needsApproval: ({ to }, { context }: { readonly context: User }) => to !== context.user,
      execute: (_input, { context }) => expectTypeOf(context).toEqualTypeOf<User>(),
    });
  });
});

describe("a context that does not fit is a type error", () => {
  const agent = defineAgent({ name: "a", model, tools: [mail] });

  it("in run, resume and the engine, if it is missing", () => {
    // @ts-expect-error: Arguments for the rest parameter 'optionsWithContext' were not provided
    run(agent, "Go");
    // @ts-expect-error: Property 'context' is missing
    run(agent, "Go", { session: "s" });
    // @ts-expect-error: Arguments for the rest parameter 'optionsWithContext' were not provided
    resume(agent, { store, runId: "r" });
    // @ts-expect-error: Property 'getResumeOptions' is missing
    local({ store, agents: agent });
    const engine = local({ store, agents: [agent], getResumeOptions: () => ({ context: { user: "ada" } }) });
    // @ts-expect-error: Arguments for the rest parameter 'optionsWithContext' were not provided
    engine.run(agent, "Go");
    engine.run(agent, "Go", { context: { user: "ada" } });
    run(agent, "Go", { context: { user: "ada" }, session: "s" });
    resume(agent, { store, runId: "r" }, { context: { user: "ada" } });
  });

  it("in a session, if it is missing", () => {
    // @ts-expect-error: Arguments for the rest parameter 'optionsWithContext' were not provided
    session(store, "s").run(agent, "Go");
    session(store, "s").run(agent, "Go", { context: { user: "ada" } });
  });

  it("in run, if its fields are wrong", () => {
    // @ts-expect-error: Type 'number' is not assignable to type 'string'
    run(agent, "Go", { context: { user: 5 } });
    // @ts-expect-error: Property 'user' is missing
    run(agent, "Go", { context: {} });
  });

  it("in defineAgent, if a tool, a handoff target or the instructions need another", () => {
    const context = z.object({ role: z.string() });
    // @ts-expect-error: Property 'user' is missing in type '{ role: string; }'
    defineAgent({ name: "b", model, context, tools: [weather, mail] });
    // @ts-expect-error: Property 'user' is missing in type '{ role: string; }'
    defineAgent({ name: "b", model, context, tools: () => [weather, mail] });
    // @ts-expect-error: Property 'user' is missing in type '{ role: string; }'
    defineAgent({ name: "b", model, context, handoffs: [agent] });
    // @ts-expect-error: Property 'user' is missing in type '{ role: string; }'
    defineAgent({ name: "b", model, context, tools: [agentTool(agent)] });
    // @ts-expect-error: Property 'user' is missing in type '{ role: string; }'
    defineAgent({ name: "b", model, context, fallbackTool: mail });
    defineAgent({
      name: "b",
      model,
      // @ts-expect-error: the instructions need another
      context,
      instructions: ({ context }: InstructionsInput<User>) => context.user,
    });
  });
});

describe("the calls of a run", () => {
  const clerk = defineAgent({ name: "clerk", model, tools: [mail] });
  const agent = defineAgent({ name: "a", model, tools: [weather, agentTool(clerk)] });
  const options = { context: { user: "ada" } };

  it("have the input of their tool in the result, before defaults, if they succeeded", async () => {
    const { toolCalls } = await run(agent, "Go", options);
    for (const call of toolCalls) {
      if (call.status !== "ok") expectTypeOf(call.input).toEqualTypeOf<Json>();
      else if (call.name === "weather")
        expectTypeOf(call.input).toEqualTypeOf<{ city: string; days?: number }>();
      else if (call.name === "mail") expectTypeOf(call.input).toEqualTypeOf<{ to: string }>();
      else if (call.name === "clerk") expectTypeOf(call.input).toEqualTypeOf<{ prompt: string }>();
      else expectTypeOf(call.name).toEqualTypeOf<"handoff" | "read_result" | "search_tools">();
    }
  });

  it("have typed arguments in the events and while they wait", async () => {
    const running = run(agent, "Go", options);
    for await (const event of running) {
      if (event.type === "tool_call_start" && event.name === "weather")
        expectTypeOf(event.arguments).toEqualTypeOf<{ city: string; days?: number }>();
      if (event.type === "approval_required" && event.name === "mail")
        expectTypeOf(event.input).toEqualTypeOf<{ to: string }>();
      // @ts-expect-error: there is no such tool
      if (event.type === "tool_call_start" && event.name === "wether") break;
    }
    for (const call of (await running).pending)
      if (call.name === "mail") expectTypeOf(call.input).toEqualTypeOf<{ to: string }>();
  });

  it("are typed in hooks, with the context", () => {
    run(agent, "Go", {
      ...options,
      hooks: {
        onBeforeTool(call) {
          expectTypeOf(call.context).toEqualTypeOf<User>();
          if (call.name === "mail") expectTypeOf(call.input).toEqualTypeOf<{ to: string }>();
        },
        // Also called for calls with invalid input.
        onAfterTool(call) {
          expectTypeOf(call.context).toEqualTypeOf<User>();
          expectTypeOf(call.input).toEqualTypeOf<Json>();
          return undefined;
        },
        onEvent(event) {
          if (event.type === "tool_call_start" && event.name === "mail")
            expectTypeOf(event.arguments).toEqualTypeOf<{ to: string }>();
        },
      },
    });
  });

  it("include those of handoff targets", async () => {
    const desk = defineAgent({ name: "desk", model, handoffs: [agent] });
    for await (const event of run(desk, "Go", options))
      if (event.type === "tool_call_start" && event.name === "mail")
        expectTypeOf(event.arguments).toEqualTypeOf<{ to: string }>();
  });

  it("have any JSON as input if the tools are not known", async () => {
    const tools: Tool[] = [];
    const { toolCalls } = await run(defineAgent({ name: "a", model, tools }), "Go");
    for (const call of toolCalls) {
      expectTypeOf(call.name).toEqualTypeOf<string>();
      expectTypeOf(call.input).toEqualTypeOf<Json>();
    }
  });
});

describe("a plain type", () => {
  const typed = defineAgent({
    name: "typed",
    model,
    tools: [mail, query],
    output: z.object({ city: z.string(), note: z.string().optional() }),
  });

  it("accepts every agent, tool, run, result and event", () => {
    expectTypeOf(typed).toExtend<Agent>();
    expectTypeOf(mail).toExtend<Tool>();
    expectTypeOf(agentTool(typed)).toExtend<Tool>();
    const context = { user: "ada", db: { query: (sql: string) => sql } };
    const running = run(typed, "Go", { context });
    expectTypeOf(running).toExtend<Run>();
    expectTypeOf<Awaited<typeof running>>().toExtend<Result>();
    for (const check of [(_event: Event) => undefined])
      run(typed, "Go", { context, hooks: { onEvent: check } });
  });

  it("is accepted wherever an agent or a tool is needed", () => {
    const agent: Agent = typed;
    const tool: Tool = mail;
    run(agent, "Go");
    run(agent, "Go", { context: { user: "ada" } });
    local({ store, agents: agent });
    const context = z.object({ role: z.string() });
    const other = defineAgent({ name: "b", model, context, tools: [tool, weather], handoffs: [agent] });
    expectTypeOf<AgentContext<typeof other>>().toEqualTypeOf<{ role: string }>();
  });

  it("with a context accepts agents that need no more than that", () => {
    const clerk = defineAgent({ name: "clerk", model, tools: [mail] });
    expectTypeOf(clerk).toExtend<Agent<undefined, User & { role: string }>>();
    expectTypeOf(clerk).not.toExtend<Agent<undefined, { role: string }>>();
    expectTypeOf(defineAgent({ name: "none", model })).toExtend<Agent<undefined, User>>();
  });

  it("breaks the circle of agents that refer to each other", () => {
    const first: Agent = defineAgent({ name: "first", model, handoffs: () => [second] });
    const second: Agent = defineAgent({ name: "second", model, handoffs: () => [first] });
    run(first, "Go");
  });
});
