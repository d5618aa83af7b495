import type { CallToolResult, Client, ElicitRequest } from "@modelcontextprotocol/client";
import { type Agent, defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { serveMcp } from "./serve-mcp.ts";
import { connect, type Era } from "./testing/connect.ts";
import { listenOnLoopback } from "./testing/listen.ts";

const eras: readonly Era[] = ["modern", "legacy"];
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** An agent that sends a mail, which a person has to allow, and what was sent. */
function createMailer(): { readonly agent: Agent; readonly sent: string[] } {
  const sent: string[] = [];
  const mail = defineTool({
    name: "mail",
    description: "Sends a mail.",
    input: { to: { type: "string" } },
    effects: "send",
    needsApproval: "It leaves the house.",
    execute({ to }) {
      sent.push(String(to));
      return "sent";
    },
  });
  const model = scriptedModel(({ history }) => {
    const last = history.at(-1);
    if (last?.type === "result") return { text: `The mail: ${last.status} ${JSON.stringify(last.content)}` };
    return { calls: [{ name: "mail", input: { to: "ann" } }] };
  });
  const policy = { onBusy: "reject" } as const;
  return { agent: defineAgent({ name: "mailer", model, tools: [mail], policy }), sent };
}

type Reply = { action: "accept" | "decline" | "cancel"; content?: Record<string, string | boolean | number> };
type Setting = {
  readonly agent: Agent;
  readonly era: Era;
  readonly reply?: (request: ElicitRequest) => Reply;
};

async function connectClient({ agent, era, reply }: Setting): Promise<Client> {
  const listening = await listenOnLoopback(serveMcp({ agents: [agent] }));
  closing.push(listening.close);
  const capabilities = reply ? { elicitation: { form: {}, url: {} } } : {};
  const client = await connect(listening.url, era, {
    capabilities,
    prepare: (made) => {
      if (reply) made.setRequestHandler("elicitation/create", async (request) => reply(request));
    },
  });
  closing.push(() => client.close());
  return client;
}

const query = { name: "query", arguments: { prompt: "Write to Ann" } };
const getResultText = ({ content }: CallToolResult) =>
  content.map((part) => ("text" in part ? part.text : "")).join("\n");
type Waiting = { runId: string; session: string; pending: { callId: string; expiresAt?: string }[] };

describe.each(eras)("a call that needs approval, for a client of the %s era", (era) => {
  it("is shown to the user by the client, and runs when the user approves", async () => {
    const { agent, sent } = createMailer();
    const asked: string[] = [];
    const reply = ({ params }: ElicitRequest): Reply => {
      asked.push(params.message);
      expect(sent).toEqual([]);
      return { action: "accept", content: { approve: true } };
    };
    const client = await connectClient({ agent, era, reply });
    const told: number[] = [];
    const result = await client.callTool(query, {
      // The client tells of its own rounds in the same way.
      onprogress: ({ progress, message }) => void (message?.startsWith("Fulfilling") || told.push(progress)),
    });
    expect(result.structuredContent).toMatchObject({
      status: "done",
      tools: [{ name: "mail", status: "ok" }],
    });
    expect(sent).toEqual(["ann"]);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('"mail"');
    expect(asked[0]).toContain("ann");
    expect(told).toEqual([1, 2, 3].slice(0, told.length));
    expect(told.length).toBeGreaterThan(0);
  });

  it.each([
    ["says no", { action: "accept", content: { approve: false, reason: "Not Ann." } }, "Not Ann."],
    ["declines", { action: "decline" }, "declined"],
  ] as const)("is not done when the user %s", async (_, said, reason) => {
    const { agent, sent } = createMailer();
    const client = await connectClient({ agent, era, reply: () => said });
    const result = await client.callTool(query);
    expect(result.structuredContent).toMatchObject({ status: "done" });
    expect(getResultText(result)).toContain(reason);
    expect(sent).toEqual([]);
  });

  it("waits when the user does not decide, and the client's model cannot decide instead", async () => {
    const { agent, sent } = createMailer();
    let asked = 0;
    const client = await connectClient({
      agent,
      era,
      reply: () => {
        asked += 1;
        return { action: "cancel" };
      },
    });
    const result = await client.callTool(query);
    expect(result.structuredContent).toMatchObject({ status: "waiting" });
    const { runId, pending } = result.structuredContent as Waiting;
    const approve = pending.map(({ callId }) => callId);
    const again = await client.callTool({ name: "resume", arguments: { runId, approve } });
    expect(again.structuredContent).toMatchObject({ status: "waiting" });
    expect(asked).toBe(2);
    expect(sent).toEqual([]);
  });

  it("gives a client without elicitation a run id, and `resume` continues", async () => {
    const { agent, sent } = createMailer();
    const client = await connectClient({ agent, era });
    const result = await client.callTool(query);
    const { runId, session, pending } = result.structuredContent as Waiting;
    expect(result.structuredContent).toMatchObject({
      status: "waiting",
      pending: [{ name: "mail", needs: "approval", shown: expect.stringContaining("ann") }],
    });
    expect(getResultText(result)).toContain(`runId "${runId}"`);
    const busy = await client.callTool({ ...query, arguments: { prompt: "Now?", sessionId: session } });
    expect(getResultText(busy)).toMatch(/^session_busy: /);
    expect(getResultText(busy)).toContain(runId);
    const resumed = { name: "resume", arguments: { runId, approve: [pending[0]?.callId] } };
    expect((await client.callTool(resumed)).structuredContent).toMatchObject({ status: "done", session });
    expect((await client.callTool(resumed)).structuredContent).toMatchObject({ status: "done" });
    expect(sent).toEqual(["ann"]);
    const unknown = await client.callTool({ name: "resume", arguments: { runId: "run_x" } });
    expect(getResultText(unknown)).toBe('unknown_run: Unknown run "run_x".');
  });

  it("does not run when `resume` approves it after it has expired", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { agent, sent } = createMailer();
    const client = await connectClient({ agent, era });
    const { runId, pending } = (await client.callTool(query)).structuredContent as Waiting;
    const [{ callId = "", expiresAt = "" } = {}] = pending;
    vi.setSystemTime(new Date(expiresAt));
    const late = await client.callTool({ name: "resume", arguments: { runId, approve: [callId] } });
    expect(late.isError).toBe(true);
    expect(getResultText(late)).toMatch(/^approval_expired: /);
    const result = await client.callTool({ name: "resume", arguments: { runId } });
    expect(result.structuredContent).toMatchObject({ status: "done", tools: [{ status: "denied" }] });
    expect(sent).toEqual([]);
  });

  it("does not run when `resume` denies it", async () => {
    const { agent, sent } = createMailer();
    const client = await connectClient({ agent, era });
    const { runId, pending } = (await client.callTool(query)).structuredContent as Waiting;
    const deny = pending.map(({ callId }) => callId);
    const result = await client.callTool({ name: "resume", arguments: { runId, deny } });
    expect(result.structuredContent).toMatchObject({ status: "done" });
    expect(sent).toEqual([]);
  });
});

/** An agent whose tool asks a person in the middle of its call and says what it was told. */
function createAsker(ask: Record<string, unknown>): Agent {
  const tool = defineTool({
    name: "ask",
    description: "Asks.",
    input: {},
    effects: "none",
    execute: (_, { answers }) => (answers[0] ? JSON.stringify(answers[0]) : { ask }),
  } as Parameters<typeof defineTool>[0]);
  const model = scriptedModel(({ history }) => {
    const last = history.at(-1);
    return last?.type === "result" ? { text: String(last.content) } : { calls: [{ name: "ask", input: {} }] };
  });
  return defineAgent({ name: "asker", model, tools: [tool] });
}

describe.each(eras)("a question of a tool, for a client of the %s era", (era) => {
  const size = { type: "object", properties: { size: { type: "integer", minimum: 1 } }, required: ["size"] };

  it("is a form if its schema is flat", async () => {
    const reply = ({ params }: ElicitRequest): Reply => {
      expect(params).toMatchObject({ message: "Which size?", requestedSchema: size });
      return { action: "accept", content: { size: 38 } };
    };
    const client = await connectClient({
      agent: createAsker({ message: "Which size?", schema: size }),
      era,
      reply,
    });
    const result = await client.callTool(query);
    expect(getResultText(result)).toContain('"value":{"size":38}');
  });

  it("is a JSON field if its schema is not flat", async () => {
    const schema = { type: "object", properties: { sizes: { type: "array", items: { type: "integer" } } } };
    const reply = (): Reply => ({ action: "accept", content: { json: '{"sizes":[38,39]}' } });
    const client = await connectClient({
      agent: createAsker({ message: "Which sizes?", schema }),
      era,
      reply,
    });
    expect(getResultText(await client.callTool(query))).toContain('"value":{"sizes":[38,39]}');
  });

  it("rejects an invalid answer and keeps waiting", async () => {
    const schema = { type: "object", properties: { sizes: { type: "array", items: { type: "integer" } } } };
    const reply = (): Reply => ({ action: "accept", content: { json: '{"sizes":"all"}' } });
    const client = await connectClient({
      agent: createAsker({ message: "Which sizes?", schema }),
      era,
      reply,
    });
    const result = await client.callTool(query);
    expect(result.isError).toBe(true);
    expect(getResultText(result)).toMatch(/^invalid_input: .*sizes[\s\S]*call `resume` with runId "run_/);
  });

  it("with a URL is sent as that URL", async () => {
    const reply = ({ params }: ElicitRequest): Reply => {
      expect(params).toMatchObject({ mode: "url", url: "https://example.test/pay" });
      return { action: "accept" };
    };
    const ask = { message: "Pay there.", url: "https://example.test/pay" };
    const client = await connectClient({ agent: createAsker(ask), era, reply });
    expect(getResultText(await client.callTool(query))).toContain('"approved":true');
  });

  it("is answered through `resume` by a client without elicitation", async () => {
    const client = await connectClient({ agent: createAsker({ message: "Which size?", schema: size }), era });
    const waiting = await client.callTool(query);
    expect(waiting.structuredContent).toMatchObject({ pending: [{ question: { message: "Which size?" } }] });
    const { runId, pending } = waiting.structuredContent as Waiting;
    const answers = { [pending[0]?.callId ?? ""]: { size: 38 } };
    const result = await client.callTool({ name: "resume", arguments: { runId, answers } });
    expect(getResultText(result)).toContain('"value":{"size":38}');
  });
});

describe("the request state of a client between rounds", () => {
  async function getRequestState(user: string) {
    const { agent, sent } = createMailer();
    const listening = await listenOnLoopback(serveMcp({ agents: [agent] }));
    closing.push(listening.close);
    const capabilities = { elicitation: { form: {} } };
    const client = await connect(listening.url, "modern", { user, capabilities });
    closing.push(() => client.close());
    const asked = await client.callTool(query, { allowInputRequired: true });
    const { requestState } = asked as unknown as { requestState: string };
    const inputResponses = { call_0: { action: "accept", content: { approve: true } } };
    const retry = (by: Client, state: string) =>
      by.callTool({ ...query, inputResponses, requestState: state } as typeof query);
    return { listening, client, requestState, retry, sent, capabilities };
  }

  it("cannot be forged (A59)", async () => {
    const { client, requestState, retry, sent } = await getRequestState("ann");
    const [version, body = "", mac] = requestState.split(".");
    const payload = JSON.parse(Buffer.from(body, "base64url").toString());
    payload.p.asked[0].digest = "0".repeat(64);
    const forged = [version, Buffer.from(JSON.stringify(payload)).toString("base64url"), mac].join(".");
    await expect(retry(client, forged)).rejects.toThrow(/requestState/);
    expect(sent).toEqual([]);
  });

  it("is useless to another user, and works once for its own (A59)", async () => {
    const { listening, client, requestState, retry, sent, capabilities } = await getRequestState("ann");
    const bob = await connect(listening.url, "modern", { user: "bob", capabilities });
    closing.push(() => bob.close());
    await expect(retry(bob, requestState)).rejects.toThrow(/requestState/);
    expect(sent).toEqual([]);
    expect((await retry(client, requestState)).structuredContent).toMatchObject({ status: "done" });
    await retry(client, requestState);
    expect(sent).toEqual(["ann"]);
  });
});

it.each(eras)("only its own user can resume a run (A59, %s)", async (era) => {
  const { agent, sent } = createMailer();
  const listening = await listenOnLoopback(serveMcp({ agents: [agent] }));
  closing.push(listening.close);
  const [ann, bob] = await Promise.all(["ann", "bob"].map((user) => connect(listening.url, era, { user })));
  closing.push(async () => Promise.all([ann?.close(), bob?.close()]));
  const waiting = (await ann?.callTool(query))?.structuredContent as Waiting;
  const resume = {
    name: "resume",
    arguments: { runId: waiting.runId, approve: waiting.pending.map(({ callId }) => callId) },
  };
  const stolen = await bob?.callTool(resume);
  expect(stolen && getResultText(stolen)).toMatch(/^unknown_run: /);
  expect(sent).toEqual([]);
});
