import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import { sqlite } from "capstan/stores/sqlite";
import { scriptedModel } from "capstan/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type MessageReceiver, receiveMessages } from "../testing/receive-messages.ts";
import type { ServerOrder } from "../testing/server-worker.ts";
import { signStandard, standardSecret } from "../testing/sign-webhook.ts";
import { type ServerProcess, startServerWorker } from "../testing/start-server-worker.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import { findDelivery } from "./delivery-records.ts";

let receiver: MessageReceiver;
beforeEach(async () => {
  receiver = await receiveMessages(204);
});
afterEach(() => receiver.close());

const inTime = { timeout: 60_000, interval: 20 };
const getIds = () => new Set(receiver.messages.map(({ headers }) => headers["webhook-id"]));

const writes: readonly PropertyKey[] = ["append", "putRecord", "removeRecord", "create", "sendMessage"];

/** A store of a process that dies after this many writes: nothing that it asks for afterwards is answered. */
function withDeath(store: Store, count: number): { readonly store: Store; readonly death: Promise<void> } {
  const death = Promise.withResolvers<void>();
  let left = count;
  const dying = new Proxy(store, {
    get(target, name, self) {
      const method: unknown = Reflect.get(target, name, self);
      if (typeof method !== "function" || /^(?:watch|publish)/.test(String(name))) return method;
      return async (...input: unknown[]) => {
        if (left <= 0) return new Promise(() => undefined);
        const result: unknown = await method.apply(target, input);
        if (writes.includes(name)) left -= 1;
        if (left > 0) return result;
        death.resolve();
        return new Promise(() => undefined);
      };
    },
  });
  return { store: dying, death: death.promise };
}

describe("a server that dies after any write", () => {
  const body = JSON.stringify({ text: "Hello" });

  function serve(store: Store, effects: string[]): TestServer {
    const note = defineTool({
      ...{ name: "note", description: "Notes", input: { type: "object" }, effects: "none" },
      execute: () => void effects.push("noted"),
    });
    const model = scriptedModel(({ history }) =>
      history.at(-1)?.type === "result" ? { text: "Noted." } : { calls: [{ id: "c1", name: "note" }] },
    );
    const guard = { allowHttp: true, allowPrivate: true, ports: [receiver.port], totalMs: 500 };
    const reply = { url: receiver.url, secret: standardSecret, guard };
    return createTestServer({
      ...{ agents: [defineAgent({ name: "clerk", model, tools: [note] })], store, leaseMs: 200 },
      webhooks: { tickets: { provider: "generic", secret: standardSecret, reply } },
    });
  }
  function post({ fetch }: TestServer, id: string): Promise<Response> {
    const headers = { host: "127.0.0.1", "content-type": "application/json", ...signStandard(body, { id }) };
    return fetch(new Request("http://127.0.0.1/webhooks/tickets", { method: "POST", headers, body }));
  }
  async function isDelivered(store: Store): Promise<boolean> {
    const [run] = (await store.queryRuns()).runs;
    return run !== undefined && (await findDelivery(store, run))?.state === "delivered";
  }

  /** Returns whether the first server died. The sender repeats the request until it is acknowledged. */
  async function crashAfter(count: number): Promise<boolean> {
    const store = memory();
    const effects: string[] = [];
    const dying = withDeath(store, count);
    const first = serve(dying.store, effects);
    const id = `msg_${count}`;
    const alive = post(first, id).then(() => expect.poll(() => isDelivered(store), inTime).toBe(true));
    const hasDied = await Promise.race([dying.death.then(() => true), alive.then(() => false)]);
    const second = serve(store, effects);
    try {
      const repeated = await post(second, id);
      expect(repeated.status).toBe(202);
      const { runId } = await repeated.json();
      await expect.poll(() => isDelivered(store), inTime).toBe(true);
      const { runs } = await store.queryRuns();
      expect(runs).toMatchObject([{ runId, status: "done" }]);
      expect(effects.length).toBeGreaterThan(0);
      await expect.poll(() => store.listRecords("deliveries"), inTime).toEqual([]);
      expect(getIds()).toContain(`msg_${runId}`);
    } finally {
      await Promise.all([first.close(0), second.close(0)]);
    }
    return hasDied;
  }

  it("has started one run and delivers its result, when the sender repeats the request (F73, A142)", async () => {
    const counts = Array.from({ length: 20 }, (_, index) => index + 1);
    const died = await Promise.all(counts.map(crashAfter));
    // Every write of a whole delivery was the last one once.
    expect(died.filter((hasDied) => hasDied).length).toBeGreaterThanOrEqual(10);
    expect(died.at(-1)).toBe(false);
    expect(getIds().size).toBe(counts.length);
  });
});

describe("kill -9 of a server", () => {
  let folder: string;
  let server: ServerProcess | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "capstan-webhooks-"));
  });
  afterEach(async () => {
    await server?.kill();
    rmSync(folder, { recursive: true });
  });

  const body = JSON.stringify([{ say: "I look.", call: "look" }]);
  async function post({ url }: ServerProcess): Promise<number> {
    const headers = { "content-type": "application/json", ...signStandard(body) };
    const request = { method: "POST", headers, body };
    return fetch(`${url}/webhooks/tickets`, request).then(
      ({ status }) => status,
      () => 0,
    );
  }

  it.each([
    ["between receiving a webhook and starting its run", "received", 0],
    ["between the end of a run and the delivery of its result", "ended", 202],
  ] as const)("%s loses nothing (F73, A142)", async (_when, diesWhen, firstStatus) => {
    const file = join(folder, "store.db");
    const webhook = { secret: standardSecret, replyPort: receiver.port };
    const order: ServerOrder = {
      ...{ store: { type: "sqlite", file }, port: 0, canary: join(folder, "canary") },
      ...{ leaseMs: 1000, webhook },
    };
    const dying = await startServerWorker({ ...order, webhook: { ...webhook, diesWhen } });
    expect([firstStatus, 0]).toContain(await post(dying));
    await dying.exited;
    expect(receiver.messages).toEqual([]);
    server = await startServerWorker(order);
    // A sender repeats what was not acknowledged.
    if (diesWhen === "received") expect(await post(server)).toBe(202);
    await expect.poll(() => receiver.messages.length, inTime).toBeGreaterThan(0);
    expect(JSON.parse(receiver.messages[0]?.body ?? "")).toMatchObject({ data: { status: "done" } });
    const store = sqlite(file);
    const { runs } = await store.queryRuns({ tag: "webhook:tickets" });
    expect(runs).toMatchObject([{ status: "done" }]);
    await store.close();
  });
});
