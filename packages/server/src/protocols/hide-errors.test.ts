import {
  type Agent,
  AgentError,
  agentTool,
  defineAgent,
  defineTool,
  type ErrorCode,
  type Model,
  type Tool,
} from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

let server: TestServer;
afterEach(() => server?.close(0));

const leak = "org-Zx81 of acct_77 at 10.0.0.1";
const policy = { modelRetry: { attempts: 2, minMs: 1, maxMs: 1, patienceMs: 0 } };

/** Fails as a provider does. */
const failing = (code: ErrorCode): Model =>
  scriptedModel(() => ({ error: new AgentError(code, `failing responded with 429: ${leak}`) }));

type Ask = (method: string, path: string, body?: object, headers?: Record<string, string>) => Promise<string>;

/** Serves the agent; returns the requests of a user, of an admin who owns the same sessions, and of another admin. */
async function serveAgent(agent: Agent) {
  server = createTestServer({ agents: [agent] });
  const askAs = async (name: string, isAdmin: boolean): Promise<Ask> => {
    const { secret } = await server.keys.create({ user: name, isAdmin });
    return async (method, path, body, headers = {}) => {
      const own = { authorization: `Bearer ${secret}`, ...headers };
      return (await server.send(method, path, body, own)).text();
    };
  };
  return {
    user: await askAs("ada", false),
    admin: await askAs("ada", true),
    root: await askAs("root", true),
  };
}

const serve = (model: Model, tools: readonly Tool[] = []) =>
  serveAgent(defineAgent({ name: "helper", model, tools, policy }));

async function startRun(ask: Ask) {
  const started = JSON.parse(await ask("POST", "/api/runs", { input: "Hi" }));
  const load = async () => JSON.parse(await ask("GET", `/api/runs/${started.runId}`)).state;
  await expect.poll(load, { timeout: 30_000 }).toBe("ended");
  return started as { readonly runId: string; readonly sessionId: string };
}

const listPages = ({ runId, sessionId }: { readonly runId: string; readonly sessionId: string }) => {
  const json = { accept: "application/json" };
  return [
    [`/api/runs/${runId}`, {}],
    [`/api/runs/${runId}/events`, json],
    [`/api/runs/${runId}/events`, { accept: "text/event-stream" }],
    [`/api/runs/${runId}/messages`, {}],
    [`/api/runs/${runId}/difference/${runId}`, {}],
    [`/api/sessions/${sessionId}`, {}],
    [`/api/sessions/${sessionId}/facts?limit=500`, {}],
    [`/api/sessions/${sessionId}/events`, json],
    [`/api/sessions/${sessionId}/export?format=json`, {}],
    [`/api/sessions/${sessionId}/export?format=markdown`, {}],
    [`/api/sessions/${sessionId}/export?format=html`, {}],
    [`/v1/responses/resp_1_${runId}`, {}],
  ] as const;
};

describe("the message of a provider", () => {
  it.each([
    "model_rate_limited",
    "model_rejected",
    "model_overloaded",
  ] as const)("in a run that failed with %s is read by admins, and by nobody else (A94)", async (code) => {
    const { user, admin } = await serve(failing(code));
    const run = await startRun(user);
    let isSeen = false;
    for (const [path, headers] of listPages(run)) {
      expect(await user("GET", path, undefined, headers), path).not.toContain("org-Zx81");
      isSeen ||= (await admin("GET", path, undefined, headers)).includes("org-Zx81");
    }
    expect(isSeen).toBe(true);
    const { result } = JSON.parse(await user("GET", `/api/runs/${run.runId}`));
    expect(result).toMatchObject({ status: "failed", canRetry: true, error: { code } });
    expect(result.error.message).toContain(`err_${run.runId}`);
    expect(await admin("GET", `/api/runs/${run.runId}`)).toContain("org-Zx81");
  });

  it.each([
    ["/v1/chat/completions", { model: "helper", messages: [{ role: "user", content: "Hi" }] }],
    ["/v1/chat/completions", { model: "helper", stream: true, messages: [{ role: "user", content: "Hi" }] }],
    ["/v1/responses", { model: "helper", input: "Hi" }],
    ["/v1/responses", { model: "helper", input: "Hi", store: false, stream: true }],
    ["/api/chat", { messages: [{ role: "user", content: "Hi" }] }],
    ["/api/chat?events=all", { messages: [{ role: "user", content: "Hi" }] }],
    [
      "/api/ui/chat",
      { id: "c", messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "Hi" }] }] },
    ],
    ["/ag-ui", { threadId: "t", runId: "r", messages: [{ id: "1", role: "user", content: "Hi" }] }],
    [
      "/a2a",
      {
        ...{ jsonrpc: "2.0", id: 1, method: "SendMessage" },
        params: { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "Hi" }] } },
      },
    ],
  ])("does not reach a user by %s (A94, A133)", async (path, body) => {
    const { user, root } = await serve(failing("model_rate_limited"));
    const headers = { accept: "application/json, text/event-stream", "a2a-version": "1.0" };
    const said = await user("POST", path, body, headers);
    expect(said).not.toContain("org-Zx81");
    expect(said).toMatch(/rate.limit/i);
    expect(await root("POST", path, body, headers)).toContain("org-Zx81");
  });

  it("that a run waits for is hidden, too", async () => {
    const agent = { name: "helper", model: failing("model_overloaded") };
    const { user, admin } = await serveAgent(defineAgent(agent));
    const { runId } = JSON.parse(await user("POST", "/api/runs", { input: "Hi" }));
    const load = async (ask: Ask) => JSON.parse(await ask("GET", `/api/runs/${runId}`));
    await expect
      .poll(() => load(user), { timeout: 30_000 })
      .toMatchObject({ result: { status: "waiting", outage: { error: { code: "model_overloaded" } } } });
    expect(JSON.stringify(await load(user))).not.toContain("org-Zx81");
    expect((await load(admin)).result.text).toContain("org-Zx81");
  });

  it("about a sub-agent is not in the result that the calling model reads", async () => {
    const inner = defineAgent({ name: "inner", model: failing("model_rejected"), policy });
    const model = scriptedModel(({ history }) => {
      const result = history.find((entry) => entry.type === "result");
      return result
        ? { text: JSON.stringify(result) }
        : { calls: [{ name: "inner", input: { prompt: "Go" } }] };
    });
    const { user, admin } = await serve(model, [agentTool(inner, { name: "inner", description: "Asks" })]);
    const run = await startRun(user);
    expect(JSON.stringify(model.requests)).not.toContain("org-Zx81");
    const events = `/api/runs/${run.runId}/events`;
    expect(await user("GET", events, undefined, { accept: "application/json" })).not.toContain("org-Zx81");
    expect(await admin("GET", events, undefined, { accept: "application/json" })).toContain("org-Zx81");
  });

  it("in the failure of a tool that calls a model is hidden; a tool's own message is not", async () => {
    const createTool = (name: string, error: Error) =>
      defineTool({
        ...{ name, description: "", input: {}, effects: "none", retry: { maxAttempts: 1 } },
        execute() {
          throw error;
        },
      });
    const model = scriptedModel([{ calls: [{ name: "summarize" }, { name: "look" }] }, { text: "Sorry." }]);
    const { user } = await serve(model, [
      createTool("summarize", new AgentError("model_rejected", leak)),
      createTool("look", new Error("No such city")),
    ]);
    const run = await startRun(user);
    for (const [path, headers] of listPages(run)) {
      const text = await user("GET", path, undefined, headers);
      expect(text, path).not.toContain("org-Zx81");
      if (path.endsWith("/events")) expect(text).toContain("No such city");
    }
  });
});
