import { agentTool, defineAgent, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

let servers: TestServer[] = [];
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close(0)));
  servers = [];
});

const createModel = (id: string) => ({ ...scriptedModel(() => ({ text: "Hi." })), id });

const noPatience = { modelRetry: { patienceMs: 0, attempts: 1 } } as const;

function serve(model: ReturnType<typeof createModel>, store: Store = memory()): TestServer {
  const server = createTestServer({
    agents: [defineAgent({ name: "helper", model, policy: noPatience })],
    store,
    rateLimits: { acme: { requests: { hour: 2 } } },
  });
  servers.push(server);
  return server;
}

async function runToEnd(server: TestServer) {
  const { runId } = await (await server.send("POST", "/api/runs", { input: "Go" })).json();
  await (await server.send("GET", `/api/runs/${runId}/events`)).text();
  return (await (await server.send("GET", `/api/runs/${runId}`)).json()).result;
}

describe("rateLimits of a server", () => {
  it("apply to all models of the provider, in all servers on the store", async () => {
    const store = memory();
    const [large, small, other] = ["acme/large", "acme/small", "zenith/one"].map(createModel) as [
      ReturnType<typeof createModel>,
      ReturnType<typeof createModel>,
      ReturnType<typeof createModel>,
    ];
    const [first, second, third] = [serve(large, store), serve(small, store), serve(other, store)];
    expect((await runToEnd(first)).status).toBe("done");
    expect((await runToEnd(second)).status).toBe("done");
    expect(await runToEnd(second)).toMatchObject({ error: { code: "model_rate_limited" } });
    expect([large.requests.length, small.requests.length]).toEqual([1, 1]);
    for (let runs = 0; runs < 3; runs++) expect((await runToEnd(third)).status).toBe("done");
  });

  it("apply to requests that store no run", async () => {
    const model = createModel("acme/large");
    const server = serve(model);
    const body = { model: "helper", messages: [{ role: "user", content: "Go" }] };
    for (let calls = 0; calls < 4; calls++)
      await (await server.send("POST", "/v1/chat/completions", body)).text();
    expect(model.requests).toHaveLength(2);
  });

  it("make runs wait until the limit allows another call", async () => {
    const store = memory();
    const server = createTestServer({
      agents: [defineAgent({ name: "helper", model: createModel("acme/large") })],
      store,
      rateLimits: { acme: { requests: { hour: 1 } } },
    });
    servers.push(server);
    expect((await runToEnd(server)).status).toBe("done");
    const { runId } = await (await server.send("POST", "/api/runs", { input: "Go" })).json();
    await expect
      .poll(async () => (await server.send("GET", `/api/runs/${runId}`)).json())
      .toMatchObject({ state: "active", result: { outage: { error: { code: "model_rate_limited" } } } });
  });

  it("that are invalid are refused when the server is created", () => {
    const create = () =>
      createTestServer({
        agents: [defineAgent({ name: "a", model: createModel("acme/large") })],
        rateLimits: { acme: { request: { minute: 2 } } as object },
      });
    expect(create).toThrow('Unknown rate limit "request". Did you mean "requests"?');
  });
});

it("rateLimits of a server apply to nested runs", async () => {
  const model = createModel("acme/large");
  const inner = defineAgent({ name: "inner", model, policy: noPatience });
  const ask = { name: "inner", input: { prompt: "Go" } };
  const outer = defineAgent({
    name: "outer",
    model: scriptedModel([{ calls: [ask] }, { calls: [ask] }, { text: "Done." }]),
    tools: [agentTool(inner)],
  });
  const server = createTestServer({ agents: [outer], rateLimits: { acme: { requests: { hour: 1 } } } });
  servers.push(server);
  const { toolCalls } = await runToEnd(server);
  expect(toolCalls.map(({ status }: { status: string }) => status)).toEqual(["ok", "error"]);
  expect(model.requests).toHaveLength(1);
});
