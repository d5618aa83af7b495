import { defineAgent } from "capstan";
import { offline } from "capstan/models/offline";
import { afterEach, expect, it, vi } from "vitest";
import { startFakeOllama } from "../testing/fake-ollama.ts";
import { createHelloAgent } from "../testing/hello-agent.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

let server: TestServer | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  await server?.close(0);
});

it("a server describes itself, the caller, and its agents", async () => {
  const about = {
    helper: { title: "Helper", suggestions: ["Say hello"], topics: ["greetings"], picture: "map" },
  } as const;
  server = createTestServer({
    agents: [createHelloAgent(), createHelloAgent("other")],
    about,
    storedAgents: { models: ["a/b"] },
  });
  const data = { format: 1, name: "note", description: "Takes notes" };
  await server.send("PUT", "/api/agents/note", { data, expectedVersion: 0 });
  const told = await (await server.send("GET", "/api/about")).json();
  expect(told).toMatchObject({
    name: "Capstan",
    model: "scripted",
    isOffline: false,
    user: "",
    isAdmin: true,
  });
  expect(told.version).toMatch(/^\d+\.\d+\.\d+/);
  expect(told.agents).toEqual([
    { name: "helper", ...about.helper },
    { name: "other" },
    { name: "note", description: "Takes notes" },
  ]);
});

it("users learn that they are not admins, and callers without a key learn nothing (A83)", async () => {
  server = createTestServer({ agents: [createHelloAgent()], apiKey: "canary-local-key-0123456789" });
  const { secret } = await server.keys.create({ user: "ada" });
  const answer = await server.send("GET", "/api/about", undefined, { authorization: `Bearer ${secret}` });
  expect(await answer.json()).toMatchObject({ user: "ada", isAdmin: false });
  for (const path of ["/api/about", "/api/models", "/api/mcp-servers", "/api/agent-parts"])
    expect((await server.send("GET", path)).status, path).toBe(401);
});

it("the model list shows which keys are set or missing, and never a key (A98)", async () => {
  vi.stubEnv("ANTHROPIC_API_KEY", "canary-provider-key");
  vi.stubEnv("GROQ_API_KEY", "");
  const agents = [defineAgent({ name: "rules", model: offline() })];
  server = createTestServer({ agents, models: ["anthropic/claude-haiku-4-5"] });
  const answer = await server.send("GET", "/api/models");
  const text = await answer.text();
  expect(text).not.toContain("canary");
  const { models } = JSON.parse(text);
  expect(models[0]).toMatchObject({ provider: "offline", inUse: true, key: { type: "not_needed" } });
  expect(models).toContainEqual({
    model: "anthropic/claude-haiku-4-5",
    provider: "anthropic",
    inUse: false,
    isOffered: true,
    isLocal: false,
    key: { type: "set", variable: "ANTHROPIC_API_KEY" },
    price: { input: 1, output: 5 },
    contextWindow: 200_000,
  });
  const key = { type: "missing", variables: ["GROQ_API_KEY"] };
  expect(models).toContainEqual({ provider: "groq", inUse: false, isOffered: false, isLocal: false, key });
  expect(await (await server.send("GET", "/api/about")).json()).toMatchObject({ isOffline: true });
});

it("offers the models on this machine if it may, and a request can choose one (A98)", async () => {
  const ollama = await startFakeOllama(["tiny"], "Hi from here.");
  vi.stubEnv("OLLAMA_HOST", ollama.host);
  for (const other of ["LMSTUDIO_HOST", "LLAMACPP_HOST", "VLLM_HOST"]) vi.stubEnv(other, "127.0.0.1:9");
  const agents = [defineAgent({ name: "rules", model: offline() })];
  const local = { model: "ollama/tiny", isOffered: true, isLocal: true, key: { type: "not_needed" } };
  const list = async () => {
    const answer = await server?.send("GET", "/api/models");
    return (await answer?.json())?.models;
  };

  server = createTestServer({ agents });
  expect(await list()).not.toContainEqual(expect.objectContaining({ model: "ollama/tiny" }));
  expect(ollama.requests).toEqual([]);
  const chat = { model: "rules@ollama/tiny", messages: [{ role: "user", content: "Hi" }] };
  expect((await server.send("POST", "/v1/chat/completions", chat)).status).toBe(404);

  server = createTestServer({ agents, localModels: true });
  expect(await list()).toContainEqual(expect.objectContaining(local));
  const answer = await server.send("POST", "/v1/chat/completions", chat);
  expect(await answer.text()).toContain("Hi from here.");
  ollama.close();
});

it("lists the parts of stored agents", async () => {
  const search = { name: "search", description: "Searches" };
  const tools = { search: () => expect.unreachable(), [search.name]: () => expect.unreachable() };
  server = createTestServer({
    agents: [createHelloAgent()],
    storedAgents: {
      ...{ tools, sources: ["docs"], models: ["a/b"] },
      ...{ policyLimits: { maxTurns: 5 }, settingsLimits: { effort: "low" } },
    },
  });
  expect(await (await server.send("GET", "/api/agent-parts")).json()).toEqual({
    tools: [{ name: "search" }],
    sources: ["docs"],
    models: ["a/b"],
    policyLimits: { maxTurns: 5, gate: "default", approvals: "ask" },
    settingsLimits: { effort: "low" },
  });
});
