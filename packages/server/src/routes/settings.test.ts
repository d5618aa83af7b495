import { type Chunk, defineAgent, defineTool, type Model, type ModelSettings } from "capstan";
import { createClient } from "capstan/client";
import { type ScriptedModel, scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const look = defineTool({
  ...{ name: "look", description: "Looks", input: { type: "object", properties: {} }, effects: "none" },
  execute: () => "seen",
});

let model: ScriptedModel;
let server: TestServer;
let admin: string;
let user: string;
beforeEach(async () => {
  model = scriptedModel(() => ({ text: "Hello." }));
  server = createTestServer({
    agents: [
      defineAgent({ name: "helper", model, tools: [look], settings: { seed: 7, temperature: 1 } }),
      defineAgent({ name: "exact", model: withLogprobs(model) }),
      defineAgent({
        name: "long",
        model: scriptedModel([{ text: "On and", finish: "length" }, { text: " on." }]),
      }),
    ],
    settingsLimits: { effort: "medium", maxOutputTokens: 4000 },
  });
  admin = (await server.keys.create({ user: "root", isAdmin: true })).secret;
  user = (await server.keys.create({ user: "ada" })).secret;
});
afterEach(() => server.close(0));

const logprobs = [
  { token: "Hé", logprob: -0.1, top: [{ token: "Hi", logprob: -2 }] },
  { token: "llo.", logprob: 0 },
];

function withLogprobs(inner: Model): Model {
  return {
    ...inner,
    async *stream(request, options) {
      const chunks: Chunk[] = [{ type: "logprobs", tokens: logprobs }];
      yield chunks;
      yield* inner.stream(request, options);
    },
  };
}

const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  server.send(method, path, body, { authorization: `Bearer ${user}`, ...headers });
const createUserClient = (key: string) =>
  createClient({
    ...{ baseURL: "http://127.0.0.1", key, retries: 0 },
    fetch: (input, init) => server.fetch(new Request(input, init), ["127.0.0.1"]),
  });

async function runToEnd(settings: ModelSettings | undefined, key = user) {
  const client = createUserClient(key);
  const started = await client.runs.start({ input: "Hi", ...(settings && { settings }) });
  for await (const _ of client.runs.events(started.runId));
  return { ...started, client };
}

describe("the settings of a run that a client starts", () => {
  it("reach the model before the agent's, and are in the facts and the turn's request", async () => {
    const settings: ModelSettings = {
      ...{ effort: "low", temperature: 0.2, topP: 0.9, stop: ["END"], maxOutputTokens: 100 },
      ...{ toolChoice: { tool: "look" }, parallelToolCalls: false, cache: "off", serviceTier: "flex" },
    };
    const { client, runId, sessionId } = await runToEnd(settings);
    const { toolChoice, ...others } = settings;
    expect(model.requests[0]).toMatchObject({ toolChoice, settings: { ...others, seed: 7 } });
    const turn = await client.runs.turn(runId, 1, { wire: "openai-chat" });
    expect(turn).toMatchObject({ toolChoice, settings: { ...others, seed: 7 } });
    expect(turn.body).toMatchObject({ temperature: 0.2, max_completion_tokens: 100 });
    const page = await (await ask("GET", `/api/runs/${runId}/events`, undefined, acceptJson)).json();
    expect(page.facts[0]).toMatchObject({ type: "run_start", sessionId, settings });
  });

  it("are those of the agent if the client sends none", async () => {
    const { client, runId } = await runToEnd(undefined);
    expect((await client.runs.turn(runId, 1)).settings).toEqual({ seed: 7, temperature: 1 });
  });

  it("are kept when the run is repeated, except for the new ones", async () => {
    const { client, runId } = await runToEnd({ effort: "low", topP: 0.5 });
    const again = await client.runs.rerun(runId, { settings: { effort: "none" } });
    for await (const _ of client.runs.events(again.runId));
    expect(model.requests.at(-1)?.settings).toMatchObject({ effort: "none", topP: 0.5, seed: 7 });
    await expect(client.runs.rerun(runId, { settings: { extra: {} } })).rejects.toMatchObject({
      code: "forbidden",
    });
  });

  it("belong to the request: the same key with other settings is another request", async () => {
    const start = (settings: object) =>
      ask("POST", "/api/runs", { input: "Hi", settings }, { "idempotency-key": "one" });
    expect((await start({ temperature: 0.5 })).status).toBe(201);
    expect((await start({ temperature: 0.5 })).status).toBe(200);
    expect((await start({ temperature: 0.6 })).status).toBe(409);
  });

  it.each<[object, string]>([
    [{ effort: "ultra" }, "Invalid body at settings.effort:"],
    [{ effort: 0 }, "Invalid body at settings.effort"],
    [{ temperature: 2.1 }, "Invalid body at settings.temperature:"],
    [{ topP: "1" }, "Invalid body at settings.topP:"],
    [{ stop: [] }, "Invalid body at settings.stop:"],
    [{ seed: 0.5 }, "Invalid body at settings.seed:"],
    [{ maxOutputTokens: 0 }, "Invalid body at settings.maxOutputTokens:"],
    [{ toolChoice: { name: "look" } }, "Invalid body at settings.toolChoice"],
    [{ parallelToolCalls: "no" }, "Invalid body at settings.parallelToolCalls:"],
    [{ serviceTier: "" }, "Invalid body at settings.serviceTier:"],
    [{ cache: "forever" }, "Invalid body at settings.cache:"],
    [{ logprobs: 21 }, "Invalid body at settings.logprobs"],
    [{ extra: [] }, "Invalid body at settings.extra:"],
    [{ temprature: 1 }, 'Unrecognized key: "temprature"'],
    [{ toolChoice: { tool: "lock" } }, 'agent "helper" has no "lock"'],
  ])("are refused with the name of the field: %j", async (settings, message) => {
    const response = await ask("POST", "/api/runs", { input: "Hi", settings });
    expect([response.status, (await response.json()).error]).toEqual([
      400,
      expect.objectContaining({ code: "invalid_input", message: expect.stringContaining(message) }),
    ]);
    expect(model.requests).toHaveLength(0);
  });
});

describe("what a user may ask of a model", () => {
  const extra = { extra: { tools: [{ type: "mcp", server_url: "http://127.0.0.1:1" }] } };

  it.each<[object, string]>([
    [extra, "settings.extra"],
    [{ serviceTier: "priority" }, "settings.serviceTier"],
  ])("excludes what goes to the provider unchecked, which admins may send: %j", async (settings, field) => {
    const response = await ask("POST", "/api/runs", { input: "Hi", settings });
    expect([response.status, (await response.json()).error.message]).toEqual([
      403,
      `${field} requires an admin key. Remove the field.`,
    ]);
    await runToEnd(settings, admin);
    expect(model.requests[0]?.settings).toMatchObject(settings);
  });

  it.each<[object, string]>([
    [{ settings: { effort: "high" } }, 'settings.effort cannot be "high": the maximum is "medium".'],
    [{ settings: { effort: 9000 } }, 'settings.effort cannot be 9000: the maximum is "medium".'],
    [{ settings: { maxOutputTokens: 4001 } }, "settings.maxOutputTokens cannot be 4001"],
  ])("stays within the operator's limits: %j", async (body, message) => {
    const response = await ask("POST", "/api/runs", { input: "Hi", ...body });
    expect([response.status, (await response.json()).error.message]).toEqual([
      400,
      expect.stringContaining(message),
    ]);
  });

  it("is limited for `thinking: on` too, which asks for effort", async () => {
    const strict = createTestServer({
      agents: [defineAgent({ name: "a", model })],
      settingsLimits: { effort: "low" },
    });
    const policy = { thinking: "on" };
    expect((await strict.send("POST", "/api/runs", { input: "Hi", policy })).status).toBe(400);
    const settings = { effort: "low" };
    expect((await strict.send("POST", "/api/runs", { input: "Hi", policy, settings })).status).toBe(201);
    await strict.close(0);
  });
});

const acceptJson = { accept: "application/json" };
const messages = [{ role: "user", content: "Hi" }];
const weather = { name: "weather", parameters: { type: "object" } };

describe("a chat completion", () => {
  const complete = async (body: object) =>
    (await ask("POST", "/v1/chat/completions", { model: "helper", messages, ...body })).json();

  it("asks the model for what the client asks for", async () => {
    await complete({
      ...{ temperature: 0, top_p: 0.5, stop: "END", seed: 3, max_tokens: 50, reasoning_effort: "minimal" },
      ...{ parallel_tool_calls: false, service_tier: "auto", logprobs: true, top_logprobs: 2 },
      tools: [{ type: "function", function: weather }],
      tool_choice: { type: "function", function: { name: "weather" } },
    });
    expect(model.requests[0]).toMatchObject({
      toolChoice: { tool: "weather" },
      tools: [{ name: "look" }, { name: "weather" }],
      settings: {
        ...{ temperature: 0, topP: 0.5, stop: "END", seed: 3, maxOutputTokens: 50, effort: "low" },
        ...{ parallelToolCalls: false, serviceTier: "auto", logprobs: 2 },
      },
    });
  });

  it("leaves the agent its own settings where the client sends none or null", async () => {
    await complete({ temperature: null, stop: null, logprobs: false, max_completion_tokens: 9000 });
    expect(model.requests[0]?.settings).toEqual({ seed: 7, temperature: 1, maxOutputTokens: 4000 });
  });

  it("ends at the client's output limit instead of continuing", async () => {
    const { choices } = await complete({ model: "long", max_tokens: 5 });
    expect(choices).toMatchObject([{ message: { content: "On and" }, finish_reason: "length" }]);
  });

  it.each([
    { temperature: 3 },
    { reasoning_effort: "huge" },
    { max_tokens: -1 },
    { tool_choice: { type: "function", function: { name: "lock" } } },
  ])("refuses %j", async (body) => {
    expect((await complete(body)).error).toMatchObject({ type: "invalid_request_error" });
    expect(model.requests).toHaveLength(0);
  });

  it("reports log probabilities, streamed or not", async () => {
    const content = [
      {
        ...{ token: "Hé", logprob: -0.1, bytes: [72, 195, 169] },
        top_logprobs: [{ token: "Hi", logprob: -2, bytes: [72, 105] }],
      },
      { token: "llo.", logprob: 0, bytes: [108, 108, 111, 46], top_logprobs: [] },
    ];
    const body = { model: "exact", messages, logprobs: true };
    expect((await complete(body)).choices[0].logprobs).toEqual({ content, refusal: null });
    const streamed = await (await ask("POST", "/v1/chat/completions", { ...body, stream: true })).text();
    const chunks = [...streamed.matchAll(/^data: (\{.*)$/gm)].map(([, json = ""]) => JSON.parse(json));
    expect(chunks.flatMap(({ choices }) => choices[0].logprobs?.content ?? [])).toEqual(content);
    expect((await complete({ messages })).choices[0].logprobs).toBeNull();
  });
});

describe("a response", () => {
  const respond = async (body: object) =>
    (await ask("POST", "/v1/responses", { model: "helper", input: "Hi", ...body })).json();

  it.each([
    true,
    false,
  ])("asks the model for what the client asks for, and repeats it, with store: %s", async (store) => {
    const response = await respond({
      ...{ store, temperature: 0, top_p: 0.5, max_output_tokens: 50, reasoning: { effort: "low" } },
      ...{ parallel_tool_calls: false, tools: [{ type: "function", ...weather }] },
      tool_choice: { type: "function", name: "weather" },
    });
    expect(model.requests[0]).toMatchObject({
      toolChoice: { tool: "weather" },
      settings: {
        ...{ temperature: 0, topP: 0.5, maxOutputTokens: 50, effort: "low", parallelToolCalls: false },
      },
    });
    expect(response).toMatchObject({
      ...{ temperature: 0, top_p: 0.5, max_output_tokens: 50, parallel_tool_calls: false },
      reasoning: { effort: "low" },
    });
  });

  it("reports log probabilities if they are included", async () => {
    const include = ["message.output_text.logprobs"];
    const { output } = await respond({ model: "exact", include, top_logprobs: 1 });
    expect(model.requests[0]?.settings).toEqual({ logprobs: 1 });
    expect(output[0].content[0].logprobs).toMatchObject([
      { token: "Hé", logprob: -0.1, top_logprobs: [{ token: "Hi" }] },
      { token: "llo.", top_logprobs: [] },
    ]);
  });
});
