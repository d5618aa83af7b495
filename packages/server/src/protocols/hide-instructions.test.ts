import { agentTool, defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";
import { expect, it, onTestFinished } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const canary = "never-say-osprey";

/** An agent that calls a sub-agent in its first turn; both have secret instructions. */
function serve(): TestServer {
  const inner = defineAgent({
    ...{ name: "inner", instructions: `Inner: ${canary}.` },
    model: scriptedModel(() => ({ text: "Found." })),
  });
  const model = scriptedModel(({ history }) =>
    history.at(-1)?.type === "result"
      ? { text: "Done." }
      : { calls: [{ id: "c1", name: "ask", input: { prompt: "Go" } }] },
  );
  const tools = [agentTool(inner, { name: "ask", description: "Asks" })];
  const helper = defineAgent({ name: "helper", model, tools, instructions: `Outer: ${canary}.` });
  const server = createTestServer({ agents: [helper, inner] });
  onTestFinished(() => server.close(0));
  return server;
}

async function createAsk({ keys, send }: TestServer, isAdmin: boolean) {
  const { secret } = await keys.create({ user: "ada", isAdmin });
  const authorization = `Bearer ${secret}`;
  return (method: string, path: string, body?: object) =>
    send(method, path, body, { authorization, accept: "application/json" });
}
type Ask = Awaited<ReturnType<typeof createAsk>>;

async function runToEnd(ask: Ask): Promise<{ readonly runId: string; readonly sessionId: string }> {
  const started = await (await ask("POST", "/api/runs", { input: "Hi" })).json();
  const load = async () => (await (await ask("GET", `/api/runs/${started.runId}`)).json()).state;
  await expect.poll(load, { timeout: 30_000 }).toBe("ended");
  return started;
}

it("the instructions of an agent are shown to admins, and to a user by no route (A114)", async () => {
  const server = serve();
  const [user, admin] = [await createAsk(server, false), await createAsk(server, true)];
  const { runId, sessionId } = await runToEnd(user);
  const values: Record<string, string> = { runId, sessionId, otherRunId: runId, turn: "1", name: "helper" };
  const paths = server.routes
    .filter(({ method, path }) => method === "GET" && !path.startsWith("/api/admin"))
    .map(({ path }) => path.replaceAll(/\{(\w+)\}/g, (_, name) => values[name] ?? "1"));
  const variants = [
    ...["openai-chat", "openai-responses", "anthropic", "gemini"].map(
      (wire) => `/api/runs/${runId}/turns/1?wire=${wire}`,
    ),
    `/api/runs/${runId}/requests/1?callId=c1`,
    ...["json", "markdown", "html"].map((format) => `/api/sessions/${sessionId}/export?format=${format}`),
  ];
  const shownToAdmins: string[] = [];
  for (const path of [...paths, ...variants]) {
    expect(await (await user("GET", path)).text(), path).not.toContain(canary);
    if ((await (await admin("GET", path)).text()).includes(canary)) shownToAdmins.push(path);
  }
  expect(shownToAdmins).toEqual(
    expect.arrayContaining([
      `/api/runs/${runId}/requests/1`,
      `/api/runs/${runId}/turns/1`,
      `/api/runs/${runId}/turns/1?wire=anthropic`,
      `/api/runs/${runId}/requests/1?callId=c1`,
      "/api/agents/helper/versions",
    ]),
  );
});

it("a user still sees the rest of a request: the history, the tools and the settings", async () => {
  const server = serve();
  const user = await createAsk(server, false);
  const { runId } = await runToEnd(user);
  const turn = await (await user("GET", `/api/runs/${runId}/turns/2`)).json();
  expect(turn).toMatchObject({ agent: "helper", turn: 2, instructions: "", tools: [{ name: "ask" }] });
  expect(turn.history).toHaveLength(3);
  const { requests } = await (await user("GET", `/api/runs/${runId}/requests/2`)).json();
  expect(requests[0]).toMatchObject({ runId, turn: 2, purpose: "answer", body: "", url: "", headers: {} });
  const tried = await user("POST", `/api/runs/${runId}/requests/2/try`, {});
  expect(await tried.json()).toMatchObject({ text: "Done.", body: "" });
});
