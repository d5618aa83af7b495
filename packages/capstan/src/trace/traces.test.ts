import {
  type ContextManager,
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  RandomIdGenerator,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type Agent,
  agentTool,
  defineAgent,
  defineTool,
  type Event,
  hostedTools,
  resume,
  run,
} from "../index.ts";
import { memory } from "../stores/memory.ts";
import { collect, fakeClock, scriptedModel } from "../testing/index.ts";
import { runIds, type TracesOptions, traceIdOf, traces } from "./index.ts";

type Recorder = {
  readonly sink: ReturnType<typeof traces>;
  spans(): readonly ReadableSpan[];
  tree(): string[];
};

function createRecorder(options: TracesOptions = {}): Recorder {
  const exporter = new InMemorySpanExporter();
  const ids = runIds(new RandomIdGenerator());
  const spanProcessors = [new SimpleSpanProcessor({ exporter })];
  const provider = new TracerProvider({ idGenerator: ids, spanProcessors });
  const sink = traces({ tracer: provider.getTracer("test"), ids, ...options });
  return {
    sink,
    spans: () => exporter.getFinishedSpans(),
    tree: () => buildTree(exporter.getFinishedSpans()),
  };
}

/** Returns span names in start order, indented below their parents. */
function buildTree(spans: readonly ReadableSpan[]): string[] {
  const isBelow = (span: ReadableSpan, parent: string | undefined) =>
    span.parentSpanContext?.spanId === parent;
  const below = (parent: string | undefined, depth: number): string[] =>
    spans
      .filter((span) => isBelow(span, parent))
      .sort((left, right) => left.startTime[0] - right.startTime[0] || left.startTime[1] - right.startTime[1])
      .flatMap((span) => [
        `${"  ".repeat(depth)}${span.name}`,
        ...below(span.spanContext().spanId, depth + 1),
      ]);
  return below(undefined, 0);
}

const findByName = (spans: readonly ReadableSpan[], name: string) =>
  spans.filter((span) => span.name === name);

const look = defineTool({
  ...{ name: "look", description: "Looks", input: { type: "object" }, effects: "none" as const },
  execute: () => "seven degrees",
});

function createWeatherAgent(): Agent {
  const model = scriptedModel(
    [
      {
        reasoning: "I look.",
        calls: [{ id: "c1", name: "look", input: { city: "Oslo" } }],
        usage: {
          inputTokens: 40,
          outputTokens: 8,
          cachedTokens: 30,
          cacheWriteTokens: 6,
          reasoningTokens: 3,
        },
      },
      { text: "Seven degrees." },
    ],
    { id: "gemini/flash" },
  );
  return defineAgent({ name: "weather", model, tools: [look] });
}

describe("the spans of a run", () => {
  it("have the names, kinds, attributes and times of the GenAI conventions (S4-62)", async () => {
    const { sink, spans, tree } = createRecorder();
    const options = { session: "ses", runId: "run_1", clock: fakeClock(), hooks: { onEvent: sink } };
    const { facts } = await collect(run(createWeatherAgent(), "Is it cold?", options));
    expect(tree()).toEqual(["invoke_agent weather", "  chat flash", "  execute_tool look", "  chat flash"]);
    const common = {
      "gen_ai.agent.name": "weather",
      "gen_ai.conversation.id": "ses",
      "capstan.run.id": "run_1",
    };
    const [agent] = findByName(spans(), "invoke_agent weather");
    expect(agent?.kind).toBe(SpanKind.INTERNAL);
    expect(agent?.attributes).toEqual({
      ...common,
      "gen_ai.operation.name": "invoke_agent",
      "capstan.run.status": "done",
    });
    const [chat] = findByName(spans(), "chat flash");
    expect(chat?.kind).toBe(SpanKind.CLIENT);
    expect(chat?.attributes).toEqual({
      ...common,
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "gcp.gemini",
      "gen_ai.request.model": "flash",
      "gen_ai.response.model": "flash",
      "gen_ai.response.finish_reasons": ["tool_call"],
      "gen_ai.usage.input_tokens": 40,
      "gen_ai.usage.output_tokens": 8,
      "gen_ai.usage.cache_read.input_tokens": 30,
      "gen_ai.usage.cache_creation.input_tokens": 6,
      "gen_ai.usage.reasoning.output_tokens": 3,
      "capstan.turn": 1,
    });
    const [tool] = findByName(spans(), "execute_tool look");
    expect(tool?.kind).toBe(SpanKind.INTERNAL);
    expect(tool?.attributes).toEqual({
      ...common,
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "look",
      "gen_ai.tool.call.id": "c1",
      "gen_ai.tool.type": "function",
      "capstan.tool.status": "ok",
      "capstan.turn": 1,
    });
    const at = (type: string) => facts.find((fact) => fact.type === type)?.at ?? 0;
    const ms = ([whole, nano]: [number, number]) => whole * 1000 + nano / 1e6;
    expect(agent && [ms(agent.startTime), ms(agent.endTime)]).toEqual([at("run_start"), at("done")]);
    expect(tool && [ms(tool.startTime), ms(tool.endTime)]).toEqual([
      at("tool_call_start"),
      at("tool_call_result"),
    ]);
  });

  it("of nested agents are below the call, those of handoffs below the agent that handed off (S4-62)", async () => {
    const { sink, spans, tree } = createRecorder();
    const inner = defineAgent({
      name: "inner",
      model: scriptedModel([{ calls: [{ name: "look" }] }, { text: "7" }]),
      tools: [look],
    });
    const research = defineAgent({
      name: "research",
      model: scriptedModel([{ calls: [{ name: "inner", input: { prompt: "Look" } }] }, { text: "Cold." }]),
      tools: [agentTool(inner, { description: "Looks" })],
    });
    const handoff = { name: "handoff", input: { agent: "research", message: "Find out" } };
    const model = scriptedModel([{ calls: [handoff] }, { text: "It is cold." }]);
    const desk = defineAgent({ name: "desk", model, handoffs: [research] });
    await run(desk, "Is it cold?", { hooks: { onEvent: sink }, clock: fakeClock() });
    expect(tree().join("\n")).toMatchInlineSnapshot(`
      "invoke_agent desk
        chat scripted
        invoke_agent research
          chat scripted
          execute_tool inner
            invoke_agent inner
              chat scripted
              execute_tool look
              chat scripted
          chat scripted
        chat scripted"
    `);
    expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(1);
  });

  it("record the error type and attempts, and by default not the message (A113)", async () => {
    const { sink, spans } = createRecorder();
    const broken = defineTool({
      ...{ name: "broken", description: "Fails", input: { type: "object" } },
      execute: () => ({ error: "canary-content" }),
    });
    const failing = scriptedModel(() => ({ error: "model_auth" }), { id: "openai/first" });
    const model = scriptedModel([
      { error: "model_overloaded" },
      { calls: [{ name: "broken" }] },
      { text: "No." },
    ]);
    const agent = defineAgent({ name: "a", model: [failing, model], tools: [broken] });
    await run(agent, "Go", { hooks: { onEvent: sink }, clock: fakeClock({ skipUpToMs: 60_000 }) });
    const [first] = findByName(spans(), "chat first");
    expect(first?.status.code).toBe(SpanStatusCode.ERROR);
    expect(first?.attributes["error.type"]).toBeTypeOf("string");
    const [tool] = findByName(spans(), "execute_tool broken");
    expect(tool?.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(tool?.attributes).toMatchObject({ "error.type": "tool_failed", "capstan.tool.status": "error" });
    const retries = spans().flatMap(({ events }) => events.filter(({ name }) => name === "capstan.retry"));
    expect(retries.length).toBeGreaterThan(0);
    expect(JSON.stringify(spans().map(pickContent))).not.toContain("canary-content");
  });
});

const pay = defineTool({
  ...{ name: "pay", description: "Pays", input: { type: "object" }, needsApproval: true },
  execute: () => "paid",
});
const createPayer = () =>
  defineAgent({
    name: "payer",
    model: scriptedModel(({ history }) =>
      history.some(({ type }) => type === "result") ? { text: "Paid." } : { calls: [{ name: "pay" }] },
    ),
    tools: [pay],
  });

describe("a run that is resumed", () => {
  it("continues the same trace below its first span, also in another process (S4-62)", async () => {
    const store = memory();
    const before = createRecorder();
    const waiting = await run(createPayer(), "Pay", {
      store,
      runId: "run_7",
      hooks: { onEvent: before.sink },
    });
    expect(before.tree()).toEqual(["invoke_agent payer", "  chat scripted"]);
    const [firstSpan] = findByName(before.spans(), "invoke_agent payer");
    expect(firstSpan?.attributes["capstan.run.status"]).toBe("waiting");
    expect(firstSpan?.events.map(({ name }) => name)).toEqual([
      "capstan.approval_required",
      "capstan.waiting",
    ]);

    const after = createRecorder();
    const resumedRun = resume(createPayer(), { store, runId: "run_7" }, { hooks: { onEvent: after.sink } });
    resumedRun.approve(waiting.pending[0]?.callId ?? "");
    await resumedRun;
    const [resumed] = findByName(after.spans(), "invoke_agent payer");
    expect(resumed?.parentSpanContext?.spanId).toBe(firstSpan?.spanContext().spanId);
    for (const span of [...before.spans(), ...after.spans()])
      expect(span.spanContext().traceId).toBe(traceIdOf("run_7"));
    expect(resumed?.events.map(({ name }) => name)).toContain("capstan.approval_resolved");
    expect(resumed?.attributes["capstan.run.status"]).toBe("done");
    expect(findByName(after.spans(), "execute_tool pay")).toHaveLength(1);
  });

  it("is in the same trace with a provider that generates its own ids (S4-62)", async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    const onEvent = traces({ tracer: provider.getTracer("test") });
    await run(createWeatherAgent(), "Is it cold?", { runId: "run_8", hooks: { onEvent } });
    expect(exporter.getFinishedSpans()).toHaveLength(4);
    for (const span of exporter.getFinishedSpans())
      expect(span.spanContext().traceId).toBe(traceIdOf("run_8"));
  });
});

function pickContent({ name, attributes, events, status, links }: ReadableSpan): unknown {
  return { name, attributes, events, status, links: links.map((link) => link.attributes) };
}

const secret = "canary-secret-1f6f2c";
function createTalkativeAgent(): Agent {
  const tell = defineTool({
    ...{ name: "tell", description: "Tells", input: { type: "object" } },
    execute: () => `canary-result ${secret}`,
  });
  const input = { words: `canary-arguments ${secret}` };
  const model = scriptedModel([
    {
      reasoning: "canary-reasoning",
      text: `canary-text ${secret}`,
      calls: [{ id: secret, name: "tell", input }],
    },
    { text: "canary-answer" },
  ]);
  return defineAgent({ name: "talker", model, tools: [tell] });
}
const createRunOptions = () => ({ session: `ses-${secret}`, runId: "r", store: memory() });
const input = [
  { role: "system" as const, content: "canary-instructions" },
  { role: "user" as const, content: `canary-question ${secret}` },
];

describe("content", () => {
  it("is not recorded by default, and secrets are masked even in ids (A113)", async () => {
    const { sink, spans } = createRecorder({ secrets: [secret] });
    await run(createTalkativeAgent(), input as never, { ...createRunOptions(), hooks: { onEvent: sink } });
    expect(spans()).toHaveLength(4);
    expect(JSON.stringify(spans().map(pickContent))).not.toContain("canary");
  });

  it("is recorded in the format of the conventions if enabled, without secrets (A113)", async () => {
    const { sink, spans } = createRecorder({ secrets: [secret], content: true });
    await run(createTalkativeAgent(), input as never, { ...createRunOptions(), hooks: { onEvent: sink } });
    expect(JSON.stringify(spans().map(pickContent))).not.toContain(secret);
    const [chat, last] = findByName(spans(), "chat scripted");
    const read = (span: ReadableSpan | undefined, key: string) =>
      JSON.parse(String(span?.attributes[key] ?? `"no ${key}"`));
    expect(read(chat, "gen_ai.input.messages")).toEqual([
      { role: "user", parts: [{ type: "text", content: "canary-question ***" }] },
    ]);
    expect(read(chat, "gen_ai.output.messages")).toEqual([
      {
        role: "assistant",
        parts: [
          { type: "reasoning", content: "canary-reasoning" },
          { type: "text", content: "canary-text ***" },
          { type: "tool_call", id: "***", name: "tell", arguments: { words: "canary-arguments ***" } },
        ],
        finish_reason: "tool_call",
      },
    ]);
    expect(read(last, "gen_ai.input.messages")).toEqual([
      { role: "tool", parts: [{ type: "tool_call_response", id: "***", response: "canary-result ***" }] },
    ]);
    const [tool] = findByName(spans(), "execute_tool tell");
    expect(read(tool, "gen_ai.tool.call.arguments")).toEqual({ words: "canary-arguments ***" });
    expect(read(tool, "gen_ai.tool.call.result")).toBe("canary-result ***");
    const [agent] = findByName(spans(), "invoke_agent talker");
    expect(read(agent, "gen_ai.system_instructions")).toEqual([
      { type: "text", content: "canary-instructions" },
    ]);
    expect(read(agent, "gen_ai.output.messages")[0].parts).toEqual([
      { type: "text", content: "canary-answer" },
    ]);
  });

  it("of a hosted call is in its own span, and not in the input of the next request", async () => {
    const { sink, spans } = createRecorder({ content: true });
    const outcome = { isError: false, text: "canary-found" };
    const hosted = [{ id: "ws_1", kind: "webSearch", input: { query: "tides" }, outcome }] as const;
    const model = scriptedModel([
      { hosted, calls: [{ id: "c1", name: "look", input: {} }] },
      { text: "Done" },
    ]);
    const agent = defineAgent({ name: "searcher", model, tools: [look, hostedTools.webSearch()] });
    await run(agent, "When?", { hooks: { onEvent: sink } });
    const [search] = findByName(spans(), "execute_tool web_search");
    expect(search?.attributes).toMatchObject({
      "capstan.tool.hosted": true,
      "gen_ai.tool.call.result": '"canary-found"',
    });
    const [, last] = findByName(spans(), "chat scripted");
    expect(last?.attributes["gen_ai.input.messages"]).toContain("seven degrees");
    expect(last?.attributes["gen_ai.input.messages"]).not.toContain("canary-found");
  });

  it("is truncated if long", async () => {
    const { sink, spans } = createRecorder({ content: true });
    const agent = defineAgent({ name: "long", model: scriptedModel([{ text: "a".repeat(100_000) }]) });
    await run(agent, "b".repeat(100_000), { hooks: { onEvent: sink } });
    for (const span of spans())
      for (const value of Object.values(span.attributes)) expect(String(value).length).toBeLessThan(20_000);
  });
});

describe("the sink", () => {
  it("ends open spans on close, and keeps nothing of suspended runs", async () => {
    const { sink, spans } = createRecorder();
    const facts: Event[] = [];
    await run(createWeatherAgent(), "Is it cold?", { hooks: { onEvent: (event) => void facts.push(event) } });
    for (const event of facts) {
      sink(event);
      if (event.type === "tool_call_start") break;
    }
    expect(spans().map(({ name }) => name)).toEqual(["chat flash"]);
    sink.close();
    expect(spans().map(({ name }) => name)).toEqual([
      "chat flash",
      "execute_tool look",
      "invoke_agent weather",
    ]);
    expect(spans().at(-1)?.attributes["capstan.run.status"]).toBe("interrupted");
    sink.close();
    expect(spans()).toHaveLength(3);
  });

  it("drops the oldest run when too many never end", async () => {
    const { sink, spans } = createRecorder();
    const [start] = (await collect(run(createWeatherAgent(), "Hi"))).facts;
    for (let index = 0; index < 4100; index++) sink({ ...start, runId: `run_${index}` } as Event);
    expect(spans()).toHaveLength(4);
  });

  it("never throws into a run, even with a broken tracer", async () => {
    const tracer = {
      startSpan: () => {
        throw new Error("broken");
      },
    } as never;
    const onEvent = traces({ tracer });
    const { result, facts } = await collect(run(createWeatherAgent(), "Is it cold?", { hooks: { onEvent } }));
    expect(result.status).toBe("done");
    expect(facts.filter(({ type }) => type === "warning")).toEqual([]);
  });

  it("records nothing without a provider", async () => {
    const { result } = await collect(
      run(createWeatherAgent(), "Is it cold?", { hooks: { onEvent: traces() } }),
    );
    expect(result.text).toBe("Seven degrees.");
  });

  it("adds Langfuse and OpenInference attributes if enabled", async () => {
    const { sink, spans } = createRecorder({ extraKeys: true });
    await run(createWeatherAgent(), "Is it cold?", { session: "ses", hooks: { onEvent: sink } });
    const kinds = spans().map(({ attributes }) => [
      attributes["openinference.span.kind"],
      attributes["langfuse.observation.type"],
      attributes["session.id"],
    ]);
    expect(kinds).toEqual([
      ["LLM", "generation", "ses"],
      ["TOOL", "tool", "ses"],
      ["LLM", "generation", "ses"],
      ["AGENT", "agent", "ses"],
    ]);
  });

  it("links the first span to the active one, such as a request span", async () => {
    const active = trace.setSpanContext(ROOT_CONTEXT, {
      traceId: "a".repeat(32),
      spanId: "b".repeat(16),
      traceFlags: 1,
    });
    const manager = {
      active: () => active,
      with: (_: unknown, act: () => unknown) => act(),
      enable: () => manager,
      disable: () => manager,
    } as unknown as ContextManager;
    context.setGlobalContextManager(manager);
    onTestFinished(() => context.disable());
    const { sink, spans } = createRecorder();
    await run(createWeatherAgent(), "Is it cold?", { hooks: { onEvent: sink } });
    const links = spans().flatMap(({ links: each }) => each.map((link) => link.context.spanId));
    expect(links).toEqual(["b".repeat(16)]);
  });
});

it("capstan/trace exports only its public API", async () => {
  expect(Object.keys(await import("./index.ts")).sort()).toEqual(["runIds", "traceIdOf", "traces"]);
});
