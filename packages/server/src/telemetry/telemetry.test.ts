import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Agent, defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
import { traceIdOf } from "capstan/trace";
import { afterEach, describe, expect, it } from "vitest";
import { decodeTraces, type OtlpSpan } from "../testing/otlp-traces.ts";
import { type SpanReceiver, startSpanReceiver } from "../testing/span-receiver.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import { type TelemetryOptions, telemetry } from "./telemetry.ts";
import type { TelemetryVariables } from "./telemetry-variables.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function startReceiver(status?: number): Promise<SpanReceiver> {
  const receiver = await startSpanReceiver(status);
  open.push(receiver);
  return receiver;
}

const secret = "canary-secret-7d1a";
function createAgent(): Agent {
  const tell = defineTool({
    ...{ name: "tell", description: "Tells", input: { type: "object" } },
    execute: () => `canary-result ${secret}`,
  });
  const model = scriptedModel(({ history }) =>
    history.at(-1)?.type === "result"
      ? { text: `canary-text ${secret}` }
      : { calls: [{ name: "tell", input: { words: `canary-words ${secret}` } }] },
  );
  return defineAgent({ name: "talker", model, tools: [tell] });
}

/** Runs an agent on a traced server until all spans are sent. Returns the run's id and the metrics. */
async function runTraced(
  env: TelemetryVariables,
  options: TelemetryOptions = {},
): Promise<{ runId: string; metrics: string }> {
  const { onEvent, close } = await telemetry(env, options);
  const server: TestServer = createTestServer({ agents: [createAgent()], secrets: [secret], onEvent });
  const started = await server.send("POST", "/api/runs", { input: `canary-question ${secret}` });
  const { runId } = await started.json();
  for (let state = ""; state !== "ended"; ) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    state = (await (await server.send("GET", `/api/runs/${runId}`)).json()).state;
  }
  const metrics = await (await server.send("GET", "/metrics")).text();
  await server.close(0);
  await close();
  return { runId, metrics };
}

describe("tracing by the standard variables", () => {
  it("sends the spans of a run to the endpoint, with its headers and name, and without content (A113)", async () => {
    const receiver = await startReceiver();
    const { runId, metrics } = await runTraced({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/otel/`,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20canary-key-0123,x-tenant=one",
      OTEL_SERVICE_NAME: "harbour",
    });
    const [{ path, headers, body } = { path: "", headers: {}, body: Buffer.of() }] = receiver.received;
    expect(path).toBe("/otel/v1/traces");
    expect(headers).toMatchObject({
      "content-type": "application/x-protobuf",
      authorization: "Basic canary-key-0123",
      "x-tenant": "one",
    });
    const text = receiver.text();
    for (const word of ["invoke_agent talker", "chat scripted", "execute_tool tell", "harbour"])
      expect(text).toContain(word);
    expect(body.includes(Buffer.from(traceIdOf(runId), "hex"))).toBe(true);
    expect(text).not.toContain("canary");
    expect(metrics).not.toContain("canary");
  });

  it("a collector that decodes OTLP finds one trace with the run, its model calls and its tools (A113)", async () => {
    const receiver = await startReceiver();
    const problems: Error[] = [];
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SERVICE_NAME: "harbour" };
    const before = BigInt(Date.now()) * 1_000_000n;
    const { runId } = await runTraced(env, { onError: (error) => problems.push(error) });
    expect(problems).toEqual([]);
    const { spans } = receiver;
    const describeSpan = ({ name, kind, statusCode }: OtlpSpan) => [name, kind, statusCode];
    expect(spans.map(describeSpan).toSorted()).toEqual([
      ["chat scripted", 3, 0],
      ["chat scripted", 3, 0],
      ["execute_tool tell", 1, 0],
      ["invoke_agent talker", 1, 0],
    ]);
    const root = spans.find(({ name }) => name === "invoke_agent talker");
    for (const span of spans) {
      expect(span.traceId).toBe(traceIdOf(runId));
      expect(span.spanId).toMatch(/^[\da-f]{16}$/);
      expect(span.parentSpanId).toBe(span === root ? "" : root?.spanId);
      expect(span.start >= before - 1_000_000n && span.end >= span.start).toBe(true);
      expect(span.resource).toMatchObject({ "service.name": "harbour" });
      expect(span.attributes).toMatchObject({ "capstan.run.id": runId });
    }
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(4);
    const model = spans.find(({ name }) => name === "chat scripted");
    expect(model?.attributes["gen_ai.response.finish_reasons"]).toEqual(["tool_call"]);
    expect(model?.attributes["gen_ai.usage.input_tokens"]).toEqual(expect.any(Number));
  });

  it("a collector that finds no OTLP in a body refuses it", () => {
    expect(() => decodeTraces(Buffer.from("not protobuf"))).toThrow();
    expect(() => decodeTraces(Buffer.from([0x0a, 0x05, 0x01]))).toThrow("cut off");
    expect(() => decodeTraces(Buffer.from([0x12, 0x00]))).toThrow("Unknown field 2");
    expect(decodeTraces(Buffer.of())).toEqual([]);
  });

  it("sends content on request, but never a secret (A113)", async () => {
    const receiver = await startReceiver();
    await runTraced({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/spans`,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
      CAPSTAN_TRACE_EXTRA_KEYS: "true",
    });
    expect(receiver.received[0]?.path).toBe("/spans");
    const text = receiver.text();
    for (const word of ["canary-question ***", "canary-words ***", "canary-result ***", "canary-text ***"])
      expect(text).toContain(word);
    expect(text).toContain("openinference.span.kind");
    expect(text).not.toContain(secret);
    expect(text).not.toContain(Buffer.from(secret).toString("base64").slice(0, 20));
  });

  it.each([
    ["is disabled", { OTEL_SDK_DISABLED: "true" }],
    ["has no exporter", { OTEL_TRACES_EXPORTER: "none" }],
    ["samples nothing", { OTEL_TRACES_SAMPLER: "always_off" }],
    ["samples none of a hundred", { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" }],
  ])("sends nothing when it %s", async (_, variables) => {
    const receiver = await startReceiver();
    await runTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...variables });
    expect(receiver.received).toEqual([]);
  });

  it("reports lost spans once, without a key, and runs are not affected (A113)", async () => {
    const receiver = await startReceiver(401);
    const problems: string[] = [];
    await runTraced(
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url.replace("//", "//user:canary-password@"),
        OTEL_EXPORTER_OTLP_HEADERS: "dd-api-key=canary-key-0123",
      },
      { onError: ({ message }) => problems.push(message) },
    );
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`Failed to export spans to ${receiver.url}`);
    expect(problems[0]).not.toContain("canary");
  });

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" }, /Invalid OTEL_EXPORTER_OTLP_ENDPOINT/],
    [{ OTEL_EXPORTER_OTLP_HEADERS: "canary-key" }, /Invalid OTEL_EXPORTER_OTLP_HEADERS/],
    [{ OTEL_EXPORTER_OTLP_HEADERS: "a=%zz-canary" }, /Invalid OTEL_EXPORTER_OTLP_HEADERS/],
    [{ OTEL_TRACES_SAMPLER: "sometimes" }, /Unknown OTEL_TRACES_SAMPLER "sometimes"/],
    [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" }, /from 0 to 1/],
  ])("refuses %j, and shows no value of a header", async (variables, message) => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", ...variables };
    const problem: Error = await telemetry(env).then(
      () => new Error("none"),
      (error) => error,
    );
    expect(problem.message).toMatch(message);
    expect(problem.message).not.toContain("canary");
  });
});

const program = `
import { registerHooks } from "node:module";
const asked = [];
registerHooks({ resolve(specifier, context, next) {
  if (specifier.includes("opentelemetry")) asked.push(specifier);
  return next(specifier, context);
} });
const { telemetry } = await import(${JSON.stringify(join(import.meta.dirname, "../index.ts"))});
const { onEvent, close } = await telemetry(process.env);
onEvent({ type: "content_delta", delta: "Hi" });
await close();
console.log(JSON.stringify(asked));
`;

async function listLoaded(env: TelemetryVariables): Promise<string[]> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const node = ["--conditions=capstan-source", "--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, node, {
    env: { PATH, NODE_COMPILE_CACHE, NODE_OPTIONS: "", ...env },
    cwd: import.meta.dirname,
  });
  return JSON.parse(stdout);
}

it("without an endpoint nothing of OpenTelemetry is loaded (A113)", async () => {
  expect(await listLoaded({})).toEqual([]);
  expect(await listLoaded({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" })).toContain(
    "@opentelemetry/exporter-trace-otlp-proto",
  );
});
