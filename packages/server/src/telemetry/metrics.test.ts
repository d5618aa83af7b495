import { type Agent, defineAgent, defineTool, type Event } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import { createMetrics } from "./metrics.ts";

let server: TestServer | undefined;
afterEach(() => server?.close(0));

type Sample = { readonly name: string; readonly labels: Record<string, string>; readonly value: number };

/** Parses the text format like Prometheus: headers per metric, then its samples only. */
function parse(text: string): Sample[] {
  expect(text.endsWith("\n")).toBe(true);
  const samples: Sample[] = [];
  let metric = { name: "", type: "" };
  for (const line of text.slice(0, -1).split("\n")) {
    const page = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line);
    if (page) {
      if (page[1] === "TYPE") metric = { name: page[2] ?? "", type: page[3] ?? "" };
      continue;
    }
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (-?[\d.e+-]+)$/.exec(line);
    expect(sample, line).not.toBeNull();
    const [, name = "", labels = "", value] = sample ?? [];
    const suffixes = metric.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
    expect(suffixes.map((suffix) => metric.name + suffix)).toContain(name);
    const pairs = [...labels.matchAll(/(?:^|,)([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"/g)];
    expect(pairs.map(([pair]) => pair).join("")).toBe(labels);
    samples.push({
      name,
      labels: Object.fromEntries(pairs.map(([, key, text]) => [key, text])),
      value: Number(value),
    });
  }
  return samples;
}

function createAgent(): Agent {
  const tell = defineTool({
    ...{ name: "tell", description: "Tells", input: { type: "object" } },
    execute: () => "canary-result",
  });
  const usage = { inputTokens: 30, outputTokens: 7, cachedTokens: 20, cacheWriteTokens: 4 };
  const model = scriptedModel(
    ({ history }) =>
      history.at(-1)?.type === "result"
        ? { text: "canary-text", usage }
        : { usage, calls: [{ name: "tell" }, { name: "canary-made-up" }] },
    { id: "openai/gpt" },
  );
  return defineAgent({ name: "talker", model, tools: [tell] });
}

const localKey = "canary-local-key-0123456789";

describe("GET /metrics", () => {
  it("counts runs, tokens, calls and times in the text format of Prometheus, and no content or names (S4-62) (A113)", async () => {
    server = createTestServer({ agents: [createAgent()], apiKey: localKey });
    const { secret } = await server.keys.create({ user: "canary-user" });
    const headers = { authorization: `Bearer ${secret}` };
    const asking = { messages: [{ role: "user", content: "canary-question" }], model: "talker" };
    expect((await server.send("POST", "/v1/chat/completions", asking, headers)).status).toBe(200);
    const answer = await server.send("GET", "/metrics", undefined, { authorization: `Bearer ${localKey}` });
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const text = await answer.text();
    expect(text).not.toContain("canary");
    const samples = parse(text);
    const value = (name: string, labels: Record<string, string> = {}) =>
      samples.find(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([key, each]) => sample.labels[key] === each),
      )?.value;
    expect(value("capstan_runs_total", { status: "done" })).toBe(1);
    const model = { gen_ai_request_model: "openai/gpt" };
    expect(value("gen_ai_client_token_usage_total", { ...model, gen_ai_token_type: "input" })).toBe(60);
    expect(value("gen_ai_client_token_usage_total", { ...model, gen_ai_token_type: "output" })).toBe(14);
    expect(value("gen_ai_client_token_usage_total", { ...model, gen_ai_token_type: "cache_read" })).toBe(40);
    expect(value("gen_ai_client_token_usage_total", { ...model, gen_ai_token_type: "cache_creation" })).toBe(
      8,
    );
    expect(value("capstan_tool_calls_total", { gen_ai_tool_name: "tell", status: "ok" })).toBe(1);
    expect(value("capstan_tool_calls_total", { gen_ai_tool_name: "unknown", status: "error" })).toBe(1);
    expect(value("gen_ai_client_operation_duration_seconds_count", model)).toBe(2);
    expect(value("gen_ai_client_operation_duration_seconds_bucket", { ...model, le: "+Inf" })).toBe(2);
    expect(value("capstan_open_streams")).toBe(0);
    expect(value("nodejs_heap_size_used_bytes")).toBeGreaterThan(1_000_000);
    expect(
      value("nodejs_eventloop_time_seconds_total", { nodejs_eventloop_state: "active" }),
    ).toBeGreaterThan(0);
  });

  it("counts the tools that clients declare under one name, whatever they call them (A113)", async () => {
    const model = scriptedModel(({ history, tools }) =>
      history.at(-1)?.type === "result"
        ? { text: "Done." }
        : { calls: [{ id: "c1", name: tools.at(-1)?.name ?? "" }] },
    );
    server = createTestServer({ agents: [defineAgent({ name: "talker", model })] });
    for (const name of ["canary-one", "canary-two"]) {
      const tools = [{ type: "function", function: { name, parameters: { type: "object" } } }];
      const asked = { role: "user", content: "Go" };
      const first = { model: "talker", messages: [asked], tools };
      const answer = await (await server.send("POST", "/v1/chat/completions", first)).json();
      const { message } = answer.choices[0];
      const result = { role: "tool", tool_call_id: message.tool_calls[0].id, content: "Seen." };
      const messages = [asked, message, result];
      expect((await server.send("POST", "/v1/chat/completions", { ...first, messages })).status).toBe(200);
    }
    const text = await (await server.send("GET", "/metrics")).text();
    expect(text).not.toContain("canary");
    const calls = parse(text).filter(({ name }) => name === "capstan_tool_calls_total");
    expect(calls).toMatchObject([{ labels: { gen_ai_tool_name: "client", status: "ok" }, value: 2 }]);
  });

  it("is for admins only (A84)", async () => {
    server = createTestServer({ agents: [createAgent()], apiKey: localKey });
    const { secret } = await server.keys.create({ user: "ada" });
    expect((await server.send("GET", "/metrics")).status).toBe(401);
    const answer = await server.send("GET", "/metrics", undefined, { authorization: `Bearer ${secret}` });
    expect(answer.status).toBe(403);
  });
});

describe("the figures", () => {
  const readRunFigures = async () => undefined;
  const getLoad = () => ({ delayMs: 40, requests: 7, admitted: 9, refused: [["delay", 5] as const] });
  const told = (event: object) =>
    ({ runId: "r", sessionId: "s", agent: "a", turn: 1, seq: 1, at: 0, id: "i", ...event }) as Event;

  it("have cumulative buckets, up to the total count", async () => {
    const counts = createMetrics({ countStreams: () => 3, countRuns: () => 2, getLoad, readRunFigures });
    const usage = { inputTokens: 1, outputTokens: 1 };
    for (const ms of [5, 50, 500, 5000, 500_000])
      counts.record(told({ type: "message", model: "m", usage, ms }));
    const samples = parse(await counts.format());
    const buckets = samples.filter(({ name }) => name.endsWith("_bucket")).map(({ value }) => value);
    expect(buckets).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 5]);
    expect(samples.find(({ name }) => name === "capstan_open_streams")?.value).toBe(3);
  });

  it("show the load of the process, and what was refused because of it", async () => {
    const text = await createMetrics({
      countStreams: () => 0,
      countRuns: () => 0,
      getLoad,
      readRunFigures,
    }).format();
    expect(text).toContain("capstan_event_loop_delay_seconds 0.04\n");
    expect(text).toContain("capstan_open_requests 7\n");
    expect(text).toContain("# TYPE capstan_admitted_total counter\ncapstan_admitted_total 9\n");
    expect(text).toContain('capstan_refused_total{reason="delay"} 5\n');
  });

  it("stay few and readable, even with made-up names (A113)", async () => {
    const counts = createMetrics({ countStreams: () => 0, countRuns: () => 0, getLoad, readRunFigures });
    for (let index = 0; index < 2000; index++) {
      const name = `tool "${index}"\n\\ ${"x".repeat(500)}`;
      counts.record(told({ type: "tool_call_result", name, status: "ok" }));
    }
    const calls = parse(await counts.format()).filter(({ name }) => name === "capstan_tool_calls_total");
    expect(calls.length).toBeLessThan(310);
    expect(calls.reduce((sum, { value }) => sum + value, 0)).toBe(2000);
    for (const { labels } of calls) expect(labels.gen_ai_tool_name?.length).toBeLessThan(150);
  });
});
