import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { sqlite } from "capstan/stores/sqlite";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const one of opened.splice(0)) await one.close();
});

const sent: unknown[] = [];

/** Sends a mail to the address in the last message, then repeats the result. */
function serve(store: Store = memory()): TestServer {
  const send = defineTool({
    name: "send",
    description: "Sends a mail.",
    input: { type: "object", properties: { to: { type: "string" } } },
    effects: "send",
    needsApproval: true,
    target: ({ to }) => String(to),
    pattern: ({ to }) => `mail to *@${String(to).split("@")[1]}`,
    execute: ({ to }) => `Sent ${sent.push(to)}.`,
  });
  const model = scriptedModel(({ history }) => {
    const last = history.at(-1);
    if (last?.type === "result") return { text: String(last.content) };
    return { calls: [{ name: "send", input: { to: last?.type === "user" ? String(last.content) : "" } }] };
  });
  const server = createTestServer({ agents: [defineAgent({ name: "helper", model, tools: [send] })], store });
  opened.unshift({ close: () => server.close(0) });
  return server;
}

type Shown = {
  readonly state: string;
  readonly pending: readonly {
    readonly callId: string;
    readonly digest: string;
    readonly expiresAt: number;
  }[];
  readonly result?: { readonly text: string };
};
type Started = { readonly runId: string; readonly sessionId: string };

async function ask(server: TestServer, input: string, sessionId?: string): Promise<Started & Shown> {
  const body = { input, ...(sessionId !== undefined && { sessionId }) };
  const started: Started = await (await server.send("POST", "/api/runs", body)).json();
  return { ...started, ...(await waitForRun(server, started.runId, ["waiting", "ended"])) };
}

async function waitForRun(server: TestServer, runId: string, states = ["ended"]): Promise<Shown> {
  const load = async (): Promise<Shown> => (await server.send("GET", `/api/runs/${runId}`)).json();
  await vi.waitFor(async () => expect(states).toContain((await load()).state), { timeout: 30_000 });
  return load();
}

async function decide(server: TestServer, { runId, pending: [call] }: Started & Shown, body: object) {
  const path = `/api/runs/${runId}/approvals/${call?.callId}`;
  const answer = await server.send("POST", path, { digest: call?.digest, ...body });
  return { status: answer.status, code: (await answer.json()).error?.code };
}

async function listRules(server: TestServer, sessionId: string) {
  const answer = await server.send("GET", `/api/sessions/${sessionId}/approval-rules`);
  return (await answer.json()).rules;
}

const ok = { status: 202, code: undefined };

describe("a request for approval over HTTP", () => {
  it("cannot be approved after a day: 410, no call, and the run ends with the call denied", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const server = serve();
    const run = await ask(server, "late@example.com");
    expect(run.pending).toMatchObject([{ expiresAt: expect.toSatisfy((at) => at > Date.now()) }]);
    vi.setSystemTime(run.pending[0]?.expiresAt ?? 0);
    const late = { status: 410, code: "approval_expired" };
    expect(await decide(server, run, { approved: true, always: true })).toEqual(late);
    const { state, result } = await waitForRun(server, run.runId);
    expect({ state, text: result?.text }).toEqual({
      state: "ended",
      text: expect.stringContaining("nobody decided before the request expired"),
    });
    expect(await listRules(server, run.sessionId)).toEqual([]);
    expect(sent).not.toContain("late@example.com");
  });
});

describe("an approval with `always`", () => {
  it("of the pattern covers every call that matches it, and no other", async () => {
    const server = serve();
    const first = await ask(server, "ada@example.com");
    const { sessionId } = first;
    expect(first.pending).toMatchObject([{ pattern: { pattern: "mail to *@example.com" } }]);
    expect(await decide(server, first, { approved: true, always: "pattern" })).toEqual(ok);
    await waitForRun(server, first.runId);
    expect(await listRules(server, sessionId)).toMatchObject([{ pattern: "mail to *@example.com" }]);
    expect(await ask(server, "bob@example.com", sessionId)).toMatchObject({ state: "ended" });
    expect(await ask(server, "ada@other.test", sessionId)).toMatchObject({ state: "waiting" });
  });

  it("is listed, survives a restart, covers its target only, and asks again once it is revoked", async () => {
    const folder = mkdtempSync(join(tmpdir(), "approval-rules-"));
    opened.push({ close: () => rmSync(folder, { recursive: true }) });
    const openStore = () => {
      const store = sqlite(join(folder, "sessions.db"));
      opened.unshift(store);
      return store;
    };
    const server = serve(openStore());
    const first = await ask(server, "ada@example.com");
    const { sessionId } = first;
    expect(first.pending).toMatchObject([{ always: { target: "ada@example.com" } }]);
    expect(await decide(server, first, { approved: true, always: true })).toEqual(ok);
    expect(await waitForRun(server, first.runId)).toMatchObject({ state: "ended" });
    await server.close(0);

    const again = serve(openStore());
    const rules = await listRules(again, sessionId);
    expect(rules).toMatchObject([{ tool: "send", target: "ada@example.com", runId: first.runId }]);
    expect(await ask(again, "ada@example.com", sessionId)).toMatchObject({ state: "ended" });
    const other = await ask(again, "eve@example.com", sessionId);
    expect(other).toMatchObject({ state: "waiting" });
    expect(await decide(again, other, { approved: false, always: true })).toEqual(ok);
    await waitForRun(again, other.runId);
    expect(await listRules(again, sessionId)).toEqual(rules);

    const path = `/api/sessions/${sessionId}/approval-rules/${rules[0].id}`;
    expect((await again.send("DELETE", path)).status).toBe(204);
    expect((await again.send("DELETE", path)).status).toBe(404);
    expect(await ask(again, "ada@example.com", sessionId)).toMatchObject({ state: "waiting" });
    expect(sent.filter((to) => to === "eve@example.com")).toEqual([]);
  });

  it("is not copied with the session, and is deleted with it", async () => {
    const store = memory();
    const server = serve(store);
    const run = await ask(server, "bob@example.com");
    const { sessionId } = run;
    await decide(server, run, { approved: true, always: true });
    await waitForRun(server, run.runId);
    const at = (await store.read(sessionId)).length;
    const fork = await (await server.send("POST", `/api/sessions/${sessionId}/fork`, { at })).json();
    const file = await (await server.send("GET", `/api/sessions/${sessionId}/export?format=json`)).text();
    const imported = await (await server.send("POST", "/api/sessions", { file })).json();
    for (const { id } of [fork, imported]) {
      expect(await listRules(server, id)).toEqual([]);
      expect(await ask(server, "bob@example.com", id)).toMatchObject({ state: "waiting" });
    }
    expect((await server.send("DELETE", `/api/sessions/${sessionId}`)).status).toBe(204);
    expect(await store.getRecord("approval_rules", sessionId)).toBeUndefined();
    expect((await server.send("GET", `/api/sessions/${sessionId}/approval-rules`)).status).toBe(404);
  });
});
