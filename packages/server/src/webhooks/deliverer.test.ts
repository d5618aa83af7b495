import type { RequestListener } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { AgentError, defineAgent, defineTool, type Store } from "capstan";
import { local } from "capstan/engines/local";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deleteSession } from "../sessions/remove-session.ts";
import { type MessageReceiver, receiveMessages } from "../testing/receive-messages.ts";
import { signSlack, signStandard, slackSecret, standardSecret } from "../testing/sign-webhook.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import { type Deliverer, retryDelaysMs, startDeliverer } from "./deliverer.ts";
import { addDelivery, findDelivery } from "./delivery-records.ts";
import { assertSigned, readSignature } from "./signature.ts";
import { type ConfiguredWebhook, configureWebhooks, type WebhookReply } from "./webhook.ts";

let closers: (() => unknown)[] = [];
beforeEach(() => {
  closers = [];
});
afterEach(async () => {
  for (const close of closers.toReversed()) await close();
});

async function receive(...answers: readonly (number | RequestListener)[]): Promise<MessageReceiver> {
  const receiver = await receiveMessages(...answers);
  closers.push(receiver.close);
  return receiver;
}

const toLoopback = ({ url, port }: Pick<MessageReceiver, "url" | "port">): WebhookReply => ({
  ...{ url, secret: standardSecret },
  guard: { allowHttp: true, allowPrivate: true, ports: [port] },
});

const model = scriptedModel(({ history }) => {
  const text = JSON.stringify(history.at(-1));
  if (text.includes("ask")) return { calls: [{ id: "c1", name: "pay" }] };
  return text.includes("fail")
    ? { error: new AgentError("model_auth", "leak: the key of acme was rejected") }
    : { text: `Read <!channel> & ${standardSecret}.` };
});
const pay = defineTool({
  ...{ name: "pay", description: "Pays", input: { type: "object" }, effects: "send", needsApproval: true },
  execute: () => "paid",
});
const agent = defineAgent({ name: "clerk", model, tools: [pay] });

type Served = { readonly store: Store; readonly server: TestServer; start(text?: string): Promise<string> };

/** A server whose webhook replies like this. */
function serve(reply: WebhookReply, onError?: (error: unknown) => void): Served {
  const store = memory();
  const webhooks = { tickets: { provider: "generic", secret: standardSecret, reply } } as const;
  const server = createTestServer({ agents: [agent], store, webhooks, ...(onError && { onError }) });
  closers.push(() => server.close(0));
  let count = 0;
  async function start(text = "Hello"): Promise<string> {
    const body = JSON.stringify({ text });
    const headers = {
      ...{ host: "127.0.0.1", "content-type": "application/json" },
      ...signStandard(body, { id: `msg_${count++}` }),
    };
    const request = new Request("http://127.0.0.1/webhooks/tickets", { method: "POST", headers, body });
    const { runId } = await (await server.fetch(request)).json();
    return runId;
  }
  return { store, server, start };
}

async function getDelivery({ store }: Served, runId: string) {
  return findDelivery(store, { runId, sessionId: (await store.findSession(runId)) ?? "" });
}

describe("the result of a run that a webhook started", () => {
  it("is posted when the run has ended, signed, with the id of the request, and shown with the run", async () => {
    const receiver = await receive(204);
    const served = serve(toLoopback(receiver));
    const runId = await served.start();
    await expect.poll(async () => (await getDelivery(served, runId))?.state).toBe("delivered");
    const [message] = receiver.messages;
    const claim = readSignature(
      "generic",
      new Headers(message?.headers as Record<string, string>),
      Date.now(),
    );
    const [key] = getKeys();
    assertSigned(claim, [key], Buffer.from(message?.body ?? ""));
    expect(message?.headers["webhook-id"]).toBe(`msg_${runId}`);
    expect(JSON.parse(message?.body ?? "")).toMatchObject({
      type: "run.ended",
      timestamp: expect.stringMatching(/^\d{4}-/),
      data: { webhook: "tickets", requestId: "msg_0", runId, agent: "clerk", status: "done" },
    });
    const expected = { webhook: "tickets", state: "delivered", attempts: 1 };
    expect(await (await served.server.send("GET", `/api/runs/${runId}`)).json()).toMatchObject({
      delivery: expected,
    });
    const { runs } = await (await served.server.send("GET", "/api/runs?tag=webhook:tickets")).json();
    expect(runs).toMatchObject([{ runId, delivery: expected }]);
    expect(receiver.messages).toHaveLength(1);
    await deleteSession(served.store, (await served.store.findSession(runId)) ?? "");
    expect(await findDelivery(served.store, { runId, sessionId: runs[0].sessionId })).toBeUndefined();
  });

  it("contains no secret of the webhook, and of an error only the code (A142)", async () => {
    const receiver = await receive(204);
    const served = serve(toLoopback(receiver));
    const [done, failed] = [await served.start(), await served.start("fail")];
    for (const runId of [done, failed])
      await expect.poll(async () => (await getDelivery(served, runId))?.state).toBe("delivered");
    const bodies = receiver.messages.map(({ body }) => JSON.parse(body).data);
    expect(bodies.find(({ runId }) => runId === failed)).toMatchObject({
      status: "failed",
      error: { code: "model_auth" },
    });
    expect(bodies.find(({ runId }) => runId === failed).error).toEqual({ code: "model_auth" });
    expect(JSON.stringify(receiver.messages)).not.toContain(standardSecret);
    expect(JSON.stringify(receiver.messages)).not.toContain("leak");
    const { facts } = await (
      await served.server.send("GET", `/api/runs/${done}/events`, undefined, { accept: "application/json" })
    ).json();
    expect(JSON.stringify(facts)).toContain("Read <!channel>");
    expect(JSON.stringify(facts)).not.toContain(standardSecret);
  });

  it("is also posted each time the run waits, if the configuration says so, and then at its end", async () => {
    const receiver = await receive(204);
    const served = serve({ ...toLoopback(receiver), events: ["run.ended", "run.waiting"] });
    const runId = await served.start("ask");
    await expect.poll(() => receiver.messages.length).toBe(1);
    const { type, data } = JSON.parse(receiver.messages[0]?.body ?? "");
    expect([type, data.status]).toEqual(["run.waiting", "waiting"]);
    expect(data.pending).toMatchObject([{ callId: "c1", name: "pay", needs: "approval" }]);
    expect(await getDelivery(served, runId)).toMatchObject({ state: "pending" });
    await served.server.send("POST", `/api/runs/${runId}/approvals/c1`, { approved: true });
    await expect.poll(() => receiver.messages.length).toBe(2);
    expect(JSON.parse(receiver.messages[1]?.body ?? "")).toMatchObject({ type: "run.ended" });
    const ids = receiver.messages.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(2);
  });

  it("is posted to the thread in Slack, as plain text that notifies no one and loads nothing (A142)", async () => {
    const answer: RequestListener = (_, response) => void response.end('{"ok":true}');
    const receiver = await receive(answer);
    const { store, deliver } = await deliverOnce({
      ...{ type: "slack", url: receiver.url, token: "xoxb-1" },
      guard: { allowHttp: true, allowPrivate: true, ports: [receiver.port] },
    });
    await deliver();
    expect(JSON.parse(receiver.messages[0]?.body ?? "")).toMatchObject({
      ...{ channel: "C1", thread_ts: "1.5", unfurl_links: false, unfurl_media: false },
      text: expect.stringContaining("Read &lt;!channel&gt; &amp; "),
    });
    expect(receiver.messages[0]?.headers.authorization).toBe("Bearer xoxb-1");
    expect(await store.listRecords("deliveries")).toEqual([]);
  });

  it("that Slack refuses has failed, with Slack's reason", async () => {
    const answer: RequestListener = (_, response) =>
      void response.end('{"ok":false,"error":"channel_not_found"}');
    const receiver = await receive(answer);
    const { deliver } = await deliverOnce({
      ...{ type: "slack", url: receiver.url, token: "xoxb-1" },
      guard: { allowHttp: true, allowPrivate: true, ports: [receiver.port] },
    });
    const error = "Slack refused the message: channel_not_found.";
    expect(await deliver()).toEqual({ webhook: "team", state: "failed", attempts: 1, error });
  });

  it("of Slack is for the thread that asked", async () => {
    const webhooks = {
      team: { provider: "slack", secret: slackSecret, reply: { token: "xoxb-1" } },
    } as const;
    const store = memory();
    const server = createTestServer({ agents: [agent], store, webhooks });
    closers.push(() => server.close(0));
    const event = { type: "app_mention", channel: "C7", ts: "7.1", thread_ts: "7.0", text: "ask" };
    const body = JSON.stringify({ type: "event_callback", event });
    const headers = { host: "127.0.0.1", "content-type": "application/json", ...signSlack(body) };
    await server.fetch(new Request("http://127.0.0.1/webhooks/team", { method: "POST", headers, body }));
    const [record] = await store.listRecords("deliveries");
    expect(record?.body).toMatchObject({ webhook: "team", slack: { channel: "C7", thread: "7.0" } });
    expect(JSON.stringify(record)).not.toContain("xoxb-1");
  });
});

function getKeys(): [Buffer] {
  return [Buffer.from(standardSecret.slice("whsec_".length), "base64")];
}

type Target = NonNullable<ConfiguredWebhook["reply"]>["target"] &
  Pick<NonNullable<ConfiguredWebhook["reply"]>, "guard">;

type Delivering = {
  readonly store: Store;
  readonly runId: string;
  readonly errors: unknown[];
  /** Moves the clock, makes one attempt and returns the state. */
  deliver(passedMs?: number): Promise<Awaited<ReturnType<typeof findDelivery>>>;
};

/** One ended run whose result is to be sent, by deliverers on a clock of the test. */
async function deliverOnce({ guard, ...target }: Target, count = 1): Promise<Delivering> {
  const store = memory();
  const engine = local({ store, agents: agent });
  const [runId, errors]: [string, unknown[]] = ["run_1", []];
  const base = configureWebhooks({ team: { provider: "slack", secret: slackSecret } }).get("team");
  if (!base) throw new Error("No webhook.");
  const webhooks = new Map([["team", { ...base, reply: { target, events: ["run.ended"], guard } as const }]]);
  const slack = { channel: "C1", thread: "1.5" };
  await addDelivery(store, runId, { webhook: "team", requestId: "Ev1", slack });
  const { sessionId } = await engine.run(agent, "Hello", { runId });
  await engine.close();
  const shutdown = new AbortController();
  let now = Date.now();
  const options = { store, engine, webhooks, shutdownSignal: shutdown.signal, now: () => now };
  const report = (error: unknown) => void errors.push(error);
  const deliverers: (Deliverer | undefined)[] = [];
  closers.push(() => shutdown.abort());
  return {
    ...{ store, runId, errors },
    async deliver(passedMs = 0) {
      now += passedMs;
      const [before] = await store.listRecords("deliveries");
      if (deliverers.length === 0)
        for (let index = 0; index < count; index++)
          deliverers.push(startDeliverer({ ...options, report, pollMs: 3_600_000 }));
      else for (const deliverer of deliverers) deliverer?.wake(runId);
      await expect
        .poll(async () => (await store.listRecords("deliveries"))[0]?.version ?? 0, { interval: 2 })
        .not.toBe(before?.version);
      await expect
        .poll(async () => {
          await Promise.all(deliverers.map((deliverer) => deliverer?.close()));
          const [record] = await store.listRecords("deliveries");
          return record === undefined || JSON.stringify(record.body).includes('"error"');
        })
        .toBe(true);
      return findDelivery(store, { runId, sessionId });
    },
  };
}

const toTarget = (receiver: MessageReceiver, guard: WebhookReply["guard"] = {}): Target => ({
  ...{ type: "post", url: receiver.url, keys: getKeys() },
  guard: { allowHttp: true, allowPrivate: true, ports: [receiver.port], ...guard },
});

describe("a receiver that fails", () => {
  it("gets the same message again, later and later, until it takes it", async () => {
    const receiver = await receive(500, 429, 503, 200);
    const { deliver, errors } = await deliverOnce(toTarget(receiver));
    const first = await deliver();
    expect(first).toMatchObject({
      ...{ state: "pending", attempts: 1, error: "The receiver answered with the status 500." },
      nextAt: expect.any(Number),
    });
    expect((await deliver(7_000))?.attempts).toBe(2);
    expect((await deliver(40_000))?.attempts).toBe(3);
    expect(await deliver(200_000)).toEqual({ webhook: "team", state: "delivered", attempts: 4 });
    const sent = receiver.messages.map(({ headers, body }) => `${headers["webhook-id"]} ${body}`);
    expect(sent).toHaveLength(4);
    expect(new Set(sent).size).toBe(1);
    expect(errors).toEqual([]);
  });

  it("is given up after the last attempt, which the run and the log show", async () => {
    const receiver = await receive(500);
    const { deliver, errors } = await deliverOnce(toTarget(receiver));
    let state = await deliver();
    for (const delayMs of retryDelaysMs) state = await deliver(delayMs * 2);
    const error = "The receiver answered with the status 500.";
    const attempts = retryDelaysMs.length + 1;
    expect(state).toEqual({ webhook: "team", state: "failed", attempts, error });
    expect(receiver.messages).toHaveLength(attempts);
    expect(String(errors)).toContain('Webhook "team": run.ended of run "run_1" was not delivered.');
  });

  it("is given up at once when it is gone", async () => {
    const { deliver } = await deliverOnce(toTarget(await receive(410)));
    expect(await deliver()).toMatchObject({ state: "failed", attempts: 1 });
  });

  it("gets no second message while one is under way: of five processes, one claims it", async () => {
    const receiver = await receive(204);
    const { deliver } = await deliverOnce(toTarget(receiver), 5);
    expect(await deliver()).toMatchObject({ state: "delivered", attempts: 1 });
    expect(receiver.messages).toHaveLength(1);
  });
});

describe("a reply URL", () => {
  /** Counts connections that no message may make. */
  async function startCanary(): Promise<{ port: number; count(): number }> {
    let touches = 0;
    const server = createTcpServer((socket) => {
      touches++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => server.close());
    return { port: (server.address() as AddressInfo).port, count: () => touches };
  }

  it.each([
    ["on this machine", "https://127.0.0.1:%d/", {}],
    ["on this machine, by its name", "https://localhost:%d/", {}],
    ["in IPv6", "https://[::1]:%d/", {}],
    ["of a private network", "https://10.0.0.1:%d/", {}],
    [
      "of a metadata service, also if private ones are allowed",
      "http://169.254.169.254:%d/",
      { allowPrivate: true, allowHttp: true },
    ],
    ["without encryption", "http://example.com:%d/", {}],
    [
      "whose name leads to a private address",
      "https://example.com:%d/",
      { resolve: async () => ["10.0.0.1"] },
    ],
    ["with credentials", "https://user:word@example.com:%d/", {}],
    ["that is a file", "file:///etc/passwd?%d", {}],
  ])("%s gets nothing, and the delivery has failed (A142)", async (_what, url, guard) => {
    const canary = await startCanary();
    const connectCanary = () => connect({ host: "127.0.0.1", port: canary.port });
    const { deliver } = await deliverOnce({
      ...{ type: "post", url: url.replace("%d", String(canary.port)), keys: getKeys() },
      guard: { ports: [canary.port], connect: connectCanary, ...guard },
    });
    const state = await deliver();
    expect(state).toMatchObject({
      state: "failed",
      attempts: 1,
      error: expect.stringMatching(/\(rule: \w+\)/),
    });
    expect(state?.error).not.toContain(String(canary.port));
    expect(canary.count()).toBe(0);
  });

  it("is resolved once per attempt: a name that changes to a private address gets nothing (A142)", async () => {
    const receiver = await receive(500);
    const canary = await startCanary();
    const answers = [["93.184.215.14"], ["127.0.0.1"]];
    const connections: string[] = [];
    const { deliver } = await deliverOnce({
      ...{ type: "post", url: `http://example.com:${receiver.port}/`, keys: getKeys() },
      guard: {
        ...{ allowHttp: true, ports: [receiver.port] },
        resolve: async () => answers.shift() ?? ["127.0.0.1"],
        connect({ address }) {
          connections.push(address);
          const port = address === "127.0.0.1" ? canary.port : receiver.port;
          const socket = connect({ host: "127.0.0.1", port });
          Object.defineProperty(socket, "remoteAddress", { get: () => address });
          return socket;
        },
      },
    });
    expect(await deliver()).toMatchObject({ state: "pending", attempts: 1 });
    expect(await deliver(10_000)).toMatchObject({ state: "failed", attempts: 2 });
    expect([connections, canary.count()]).toEqual([["93.184.215.14"], 0]);
  });

  it.each([301, 302, 303, 307, 308])("that redirects with %d is not followed (A142)", async (status) => {
    const canary = await startCanary();
    const location = `http://127.0.0.1:${canary.port}/`;
    const receiver = await receive((_, response) => void response.writeHead(status, { location }).end());
    const ports = [receiver.port, canary.port];
    const { deliver } = await deliverOnce(toTarget(receiver, { ports }));
    expect(await deliver()).toMatchObject({ state: "failed", error: expect.stringContaining("redirect") });
    expect([receiver.messages.length, canary.count()]).toEqual([1, 0]);
  });
});
