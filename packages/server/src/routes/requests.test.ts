import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentError, defineAgent, defineTool, type ModelRequest, type Store } from "capstan";
import { openai } from "capstan/models/openai";
import { session, sessions } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

let looked = 0;
let instructions = "Be brief.";
const look = defineTool({
  ...{ name: "look", description: "Looks", input: { at: { type: "string" } }, effects: "none" },
  execute: ({ at }) => `Saw ${at} ${++looked} times`,
});
const asked: ModelRequest[] = [];
const answer = scriptedModel((request) => {
  asked.push(request);
  if (request.settings?.seed === 7) return { calls: [{ name: "look", input: { at: "try" } }] };
  return request.history.at(-1)?.type === "result"
    ? { text: "It is there." }
    : { calls: [{ name: "look", input: { at: "home" } }] };
});
const other = scriptedModel(() => ({ text: "From another model." }), { id: "acme/other" });

/** A tool that calls a model, whose provider fails with a message that names the operator's account. */
const broken = defineTool({
  ...{ name: "broken", description: "Asks a model", input: { prompt: { type: "string" } }, effects: "none" },
  execute() {
    throw new AgentError("model_auth", 'The account 4711 has no "credit".');
  },
});
const caller = scriptedModel(({ history }) =>
  history.at(-1)?.type === "result"
    ? { text: "It failed." }
    : { calls: [{ name: "broken", input: { prompt: "?" } }] },
);

let store: Store;
let server: TestServer;
let provider: HttpServer;
let bodies: string[];

beforeEach(async () => {
  looked = 0;
  instructions = "Be brief.";
  bodies = [];
  asked.length = 0;
  provider = createHttpServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    const delta = { index: 0, delta: { content: "Hi." }, finish_reason: "stop" };
    const usage = { prompt_tokens: 9, completion_tokens: 2 };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify({ id: "1", choices: [delta], usage })}\n\ndata: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const { port } = provider.address() as AddressInfo;
  const remote = openai({
    model: "m",
    apiKey: "sk-secret-of-the-operator",
    baseURL: `http://127.0.0.1:${port}`,
    api: "chat",
  });
  store = memory();
  server = createTestServer({
    store,
    agents: [
      defineAgent({ name: "helper", model: answer, tools: [look], instructions: () => instructions }),
      defineAgent({ name: "remote", model: remote, tools: [look], instructions: "Be exact." }),
      defineAgent({ name: "caller", model: caller, tools: [broken] }),
    ],
    models: [other],
    settingsLimits: { maxOutputTokens: 100 },
  });
});
afterEach(async () => {
  await server.close(0);
  provider.closeAllConnections();
  provider.close();
});

type Headers = { readonly authorization?: string };

async function runToEnd(body: object, headers: Headers = {}): Promise<{ runId: string; sessionId: string }> {
  const started = await (await server.send("POST", "/api/runs", body, headers)).json();
  for (;;) {
    const found = await (await server.send("GET", `/api/runs/${started.runId}`, undefined, headers)).json();
    if (found.state === "ended") return started;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const createKey = async (user: string, given: object = {}): Promise<Headers> => ({
  authorization: `Bearer ${(await server.keys.create({ user, ...given })).secret}`,
});

describe("the exact request of a turn", () => {
  it("is what the provider got, without the key, and found by run and turn", async () => {
    const { runId } = await runToEnd({ input: "Hello?", agent: "remote" });
    const response = await server.send("GET", `/api/runs/${runId}/requests/1`);
    const { requests } = await response.json();
    expect(requests).toMatchObject([
      { number: 1, runId, turn: 1, agent: "remote", purpose: "answer", model: "openai/m", method: "POST" },
    ]);
    expect(requests[0].body).toBe(bodies[0]);
    expect(requests[0].url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/chat\/completions$/);
    expect(requests[0].headers.authorization).toBe("***");
    expect(JSON.stringify(requests)).not.toContain("sk-secret");
  });

  it("does not change when the instructions of the agent do", async () => {
    const { runId } = await runToEnd({ input: "Where?" });
    instructions = "Be long.";
    const { requests } = await (await server.send("GET", `/api/runs/${runId}/requests/2`)).json();
    expect(JSON.parse(requests[0].body).instructions).toBe("Be brief.");
    const { instructions: rebuilt } = await (await server.send("GET", `/api/runs/${runId}/turns/2`)).json();
    expect(rebuilt).toBe("Be long.");
  });

  it("belongs to its user, who does not see where the operator's models are", async () => {
    const [ada, bob] = [await createKey("ada"), await createKey("bob")];
    const { runId } = await runToEnd({ input: "Hello?", agent: "remote" }, ada);
    const path = `/api/runs/${runId}/requests/1`;
    expect((await server.send("GET", path, undefined, bob)).status).toBe(404);
    expect((await server.send("POST", `${path}/try`, {}, bob)).status).toBe(404);
    const { requests } = await (await server.send("GET", path, undefined, ada)).json();
    expect(requests[0]).toMatchObject({ url: "", headers: {}, body: "" });
  });

  it("does not contain a provider's message, except for admins (A94)", async () => {
    const ada = await createKey("ada");
    const root = await createKey("ada", { isAdmin: true });
    const { runId } = await runToEnd({ input: "Ask.", agent: "caller" }, ada);
    const load = async (headers: Headers) => {
      const response = await server.send("GET", `/api/runs/${runId}/requests/2`, undefined, headers);
      return JSON.stringify(await response.json());
    };
    expect(await load(root)).toContain("account 4711");
    expect(await load(ada)).not.toContain("4711");
  });

  it("is refused with a reason if there is none", async () => {
    const { runId, sessionId } = await runToEnd({ input: "Hello?", agent: "remote" });
    const missing = await server.send("GET", `/api/runs/${runId}/requests/9`);
    expect(missing.status).toBe(404);
    expect((await missing.json()).error).toMatchObject({
      code: "not_found",
      message: expect.stringMatching(/no such turn/),
    });
    const text = await session(store, sessionId).export("json");
    const imported = await sessions(store).import(text, { id: "imported" });
    const [run] = await store.listRuns(imported.id);
    const old = await server.send("GET", `/api/runs/${run?.runId}/requests/1`);
    expect((await old.json()).error.message).toMatch(/imported, or stored by a version/);
  });
});

describe("a turn that is tried again", () => {
  it("calls the model once with the changes, runs no tool and stores nothing", async () => {
    const { runId, sessionId } = await runToEnd({ input: "Where?" });
    instructions = "Be long.";
    const before = await (await server.send("GET", `/api/sessions/${sessionId}/facts`)).text();
    asked.length = 0;
    const path = `/api/runs/${runId}/requests/1/try`;
    const plain = await (await server.send("POST", path, {})).json();
    expect(plain).toMatchObject({
      text: "",
      calls: [{ name: "look", input: { at: "home" } }],
      model: "scripted",
    });
    expect(asked).toMatchObject([{ instructions: "Be brief.", tools: [{ name: "look" }] }]);
    const history = [{ type: "user", content: "Elsewhere?" }];
    const body = { instructions: "Be odd.", history, tools: [], settings: { temperature: 1 } };
    const changed = await (await server.send("POST", path, body)).json();
    expect(asked[1]).toMatchObject({ ...body, settings: { temperature: 1 }, toolChoice: "none" });
    expect(changed.stopReason).toBe("tool_calls");
    expect(await (await server.send("POST", path, { model: "acme/other" })).json()).toMatchObject({
      ...{ text: "From another model.", model: "acme/other", calls: [] },
    });
    expect(looked).toBe(1);
    expect(await (await server.send("GET", `/api/sessions/${sessionId}/facts`)).text()).toBe(before);
    expect((await (await server.send("GET", "/api/sessions")).json()).sessions).toHaveLength(1);
  });

  it("sends the instructions that were sent, on the wire that was used", async () => {
    const { runId } = await runToEnd({ input: "Hello?", agent: "remote" });
    const tried = await (await server.send("POST", `/api/runs/${runId}/requests/1/try`, {})).json();
    expect(tried).toMatchObject({ text: "Hi.", usage: { inputTokens: 9, outputTokens: 2 } });
    expect(bodies[1]).toBe(bodies[0]);
    expect(tried.body).toBe(bodies[0]);
  });

  it("refuses what the caller may not change, and what no model would take", async () => {
    const ada = await createKey("ada", { quotas: { runs: { day: 2 } } });
    const { runId } = await runToEnd({ input: "Where?" }, ada);
    const send = async (body: object) => {
      const response = await server.send("POST", `/api/runs/${runId}/requests/1/try`, body, ada);
      return { status: response.status, ...(await response.json()) };
    };
    expect(await send({ instructions: "Be another agent." })).toMatchObject({ error: { code: "forbidden" } });
    expect(await send({ tools: [] })).toMatchObject({ error: { code: "forbidden" } });
    expect(await send({ settings: { maxOutputTokens: 5000 } })).toMatchObject({
      error: { code: "invalid_input" },
    });
    expect(await send({ settings: { extra: { a: 1 } } })).toMatchObject({ error: { code: "forbidden" } });
    expect(await send({ model: "acme/unknown" })).toMatchObject({ error: { code: "invalid_input" } });
    const unpaired = [{ type: "result", callId: "c", name: "look", status: "ok", content: "x" }];
    expect(await send({ history: unpaired })).toMatchObject({ error: { code: "invalid_input" } });
    expect(await send({ surprise: 1 })).toMatchObject({ status: 400 });
    expect(asked).toHaveLength(2);
    // The run counted, each call counts too.
    expect(await send({})).toMatchObject({ status: 200 });
    expect(await send({})).toMatchObject({ error: { code: "quota_exceeded" } });
  });
});
