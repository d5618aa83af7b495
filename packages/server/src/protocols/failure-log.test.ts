import { AgentError, defineAgent, defineTool, type ModelRequest } from "capstan";
import { scriptedModel } from "capstan/testing";
import { expect, it, onTestFinished } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

/** The stack names this function, and no message does. */
function explodeInOsprey(): never {
  return (undefined as never as { wings: { span: never } }).wings.span;
}

type Logged = { readonly error: AgentError; readonly id: string };

function serve(execute: () => string) {
  const logged: Logged[] = [];
  const requests: ModelRequest[] = [];
  const fly = defineTool({ name: "fly", description: "Flies", input: {}, effects: "none", execute });
  const model = scriptedModel((request) => {
    requests.push(request);
    return request.history.at(-1)?.type === "result" ? { text: "It broke." } : { calls: [{ name: "fly" }] };
  });
  const agent = defineAgent({ name: "helper", model, tools: [fly] });
  const onError = (error: unknown, id: string) => void logged.push({ error: error as AgentError, id });
  const server = createTestServer({ agents: [agent], onError });
  onTestFinished(() => server.close(0));
  return { server, logged, requests };
}

async function runToEnd({
  send,
}: TestServer): Promise<{ readonly runId: string; readonly sessionId: string }> {
  const started = await (await send("POST", "/api/runs", { input: "Hi" })).json();
  const load = async () => (await (await send("GET", `/api/runs/${started.runId}`)).json()).state;
  await expect.poll(load, { timeout: 30_000 }).toBe("ended");
  return started;
}

it("an error that a tool throws is logged with its stack, and reaches no client and no model (A94)", async () => {
  const { server, logged, requests } = serve(explodeInOsprey);
  const { runId, sessionId } = await runToEnd(server);
  expect(logged[0]?.id).toBe(`err_${runId}`);
  expect(logged[0]?.error.message).toMatch(/^The tool "fly" of the agent "helper" failed: .*'wings'/);
  expect((logged[0]?.error.cause as Error).stack).toContain("explodeInOsprey");
  const values: Record<string, string> = { runId, sessionId, otherRunId: runId, turn: "2" };
  for (const { method, path } of server.routes.filter(({ method }) => method === "GET")) {
    const target = path.replaceAll(/\{(\w+)\}/g, (_, name) => values[name] ?? "1");
    const response = await server.send(method, target, undefined, { accept: "application/json" });
    expect(await response.text(), target).not.toContain("explodeInOsprey");
  }
  expect(requests).toHaveLength(2);
  expect(JSON.stringify(requests)).not.toContain("explodeInOsprey");
});

it.each([
  ["/api/chat", { messages: [{ role: "user", content: "Hi" }] }],
  ["/v1/chat/completions", { model: "helper", messages: [{ role: "user", content: "Hi" }] }],
])("is logged with its stack in a run by %s, too", async (path, body) => {
  const { server, logged } = serve(explodeInOsprey);
  const answer = await (await server.send("POST", path, body)).text();
  expect(answer).toContain("It broke.");
  expect(answer).not.toContain("explodeInOsprey");
  expect((logged[0]?.error.cause as Error).stack).toContain("explodeInOsprey");
});

it("is not logged if the tool reports a failure on purpose, with a code and without a cause", async () => {
  const { server, logged } = serve(() => {
    throw new AgentError("not_found", "There is no such bird.");
  });
  await runToEnd(server);
  expect(logged).toEqual([]);
});

it("of a model is logged with its stack, once, as the failure of the run", async () => {
  const logged: Logged[] = [];
  const model = scriptedModel(() => explodeInOsprey());
  const policy = { modelRetry: { attempts: 1 } };
  const server = createTestServer({
    agents: [defineAgent({ name: "helper", model, policy })],
    onError: (error, id) => void logged.push({ error: error as AgentError, id }),
  });
  onTestFinished(() => server.close(0));
  const { runId } = await runToEnd(server);
  expect(logged.map(({ id }) => id)).toEqual([`err_${runId}`]);
  expect((logged[0]?.error.cause as Error).stack).toContain("explodeInOsprey");
  const shown = await (await server.send("GET", `/api/runs/${runId}/events`)).text();
  expect(shown).not.toContain("explodeInOsprey");
});
