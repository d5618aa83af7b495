import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgresFolder, type PostgresServer, startPostgres } from "@capstan/verification/postgres";
import { type Event, isFact } from "capstan";
import { buildView, type Client, createClient, emptyView, reduce } from "capstan/client";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { restartInTurn } from "./testing/rolling-restart.ts";
import type { SlowPlan } from "./testing/slow-agent.ts";
import { type ServerProcess, startServerWorker } from "./testing/start-server-worker.ts";

const words = "one two three four five six seven eight nine ten ";
const toInput = (...plan: SlowPlan) => ({ input: JSON.stringify(plan) });

/** Collects every event until the end of the run. */
async function collectEvents(events: AsyncIterable<Event>, hear?: (event: Event) => void): Promise<Event[]> {
  const heard: Event[] = [];
  for await (const event of events) {
    heard.push(event);
    hear?.(event);
  }
  return heard;
}

describe.skipIf(!findPostgresFolder())("two servers on one Postgres", () => {
  let postgres: PostgresServer;
  let servers: readonly ServerProcess[];
  let folder: string;
  const clients: Client[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "capstan-two-servers-"));
    postgres = await startPostgres();
    const order = { store: { type: "postgres", url: postgres.url } as const, port: 0, leaseMs: 60_000 };
    const start = (name: string) => startServerWorker({ ...order, canary: join(folder, name) });
    servers = await Promise.all([start("a"), start("b")]);
    clients.push(...servers.map(({ url }) => createClient({ baseURL: url })));
  });

  afterAll(async () => {
    await Promise.all(servers?.map((server) => server.kill()) ?? []);
    await postgres?.stop();
    rmSync(folder, { recursive: true });
  });

  describe.each([
    ["the first", "the second", 0, 1],
    ["the second", "the first", 1, 0],
  ])("a run on %s is", (_here, there, one, two) => {
    const here = () => clients[one] as Client;
    const far = () => clients[two] as Client;

    it(`streamed through ${there}, word by word, and steered`, async () => {
      // The first message waits for its reader, the last one for the steering message.
      const [heard, steered] = [join(folder, `heard-${one}`), join(folder, `steered-${one}`)];
      const plan = toInput(
        { say: words, waitFor: heard, call: "look" },
        { say: words, call: "look" },
        { say: words, waitFor: steered, call: "look" },
      );
      const { runId, sessionId } = await here().runs.start(plan);
      let isTold: Promise<void> | undefined;
      let view = emptyView;
      const steerOnce = (event: Event) => {
        view = reduce(view, event);
        if (view.live.text === words) writeFileSync(heard, "");
        if (event.type !== "tool_call_start") return;
        isTold ??= far()
          .runs.steer(runId, "And mind the step.")
          .then(() => writeFileSync(steered, ""));
      };
      const [near, distant, ofSession] = await Promise.all([
        collectEvents(here().runs.events(runId)),
        collectEvents(far().runs.events(runId), steerOnce),
        collectEvents(untilDone(far().sessions.events(sessionId))),
      ]);
      await isTold;
      expect(near.at(-1)).toMatchObject({ type: "done", status: "done" });
      expect(distant.filter(isFact)).toEqual(near.filter(isFact));
      expect(ofSession.filter(isFact)).toEqual(near.filter(isFact));
      expect(near.filter(({ type }) => type === "steered")).toHaveLength(1);
      expect(near.findLast(isFact)).toMatchObject({ text: expect.stringContaining("And mind the step.") });
      // Deltas arrive live: all of them here, and there those that no fact has overtaken.
      expect(joinDeltas(near).filter((text) => text === words)).toHaveLength(3);
      expect(joinDeltas(distant)).toContain(words);
      expect(buildView(distant)).toEqual(buildView(near.filter(isFact)));
    });

    it(`shown through ${there} from the first word of a message to one who comes in the middle`, async () => {
      const heard = join(folder, `heard-in-the-middle-${one}`);
      const plan = toInput({ call: "look" }, { say: words.repeat(4), waitFor: heard, call: "look" });
      const { runId } = await here().runs.start(plan);
      for await (const { type } of far().runs.events(runId)) if (type === "content_delta") break;
      let view = emptyView;
      for await (const event of far().runs.events(runId)) {
        view = reduce(view, event);
        if (event.type !== "content_delta") continue;
        if (view.live.text === words.repeat(4)) writeFileSync(heard, "");
        const whole = event.turn === 2 ? words.repeat(4) : "Done: seen seen";
        expect(whole.startsWith(view.live.text), view.live.text).toBe(true);
      }
      expect(view.status).toBe("done");
    });

    it(`approved and denied through ${there}`, async () => {
      for (const isApproved of [true, false]) {
        const { runId } = await here().runs.start(toInput({ call: "pay" }));
        const rest = await collectEvents(far().runs.events(runId, { untilRest: true }));
        expect(rest.at(-1)?.type).toBe("waiting");
        const asked = rest.find((event) => event.type === "approval_required");
        if (asked?.type !== "approval_required") throw new Error("It has not asked.");
        const { callId, digest, seq } = asked;
        if (isApproved) await far().runs.approve(runId, callId, { digest });
        else await far().runs.deny(runId, callId, "Too dear.");
        const end = await collectEvents(here().runs.events(runId, { after: seq }));
        expect(end.find(({ type }) => type === "approval_resolved")).toMatchObject({ approved: isApproved });
        const result = end.find(({ type }) => type === "tool_call_result");
        expect(result).toMatchObject({ status: isApproved ? "ok" : "denied" });
        const { result: ended } = await far().runs.get(runId);
        expect(ended?.status).toBe("done");
      }
    });

    it(`cancelled through ${there} in the middle of a sentence`, async () => {
      const { runId } = await here().runs.start(toInput({ say: words.repeat(100), call: "look" }));
      let isTold: Promise<void> | undefined;
      const heard = await collectEvents(far().runs.events(runId), ({ type }) => {
        if (type === "content_delta") isTold ??= far().runs.cancel(runId, "Enough.");
      });
      await isTold;
      expect(heard.at(-1)).toMatchObject({ type: "done", status: "cancelled" });
      expect(heard.filter(isFact)).toEqual((await collectEvents(here().runs.events(runId))).filter(isFact));
    });

    it(`answered through ${there} when the client runs the tool (C-28)`, async () => {
      const { runId } = await here().runs.start(toInput({ call: "screen" }));
      const rest = await collectEvents(far().runs.events(runId, { untilRest: true }));
      const waiting = rest.findLast((event) => event.type === "waiting");
      if (waiting?.type !== "waiting") throw new Error("It does not wait.");
      await far().runs.answer(runId, waiting.callIds[0] ?? "", "The harbour.");
      const end = await collectEvents(far().runs.events(runId, { after: waiting.seq }));
      expect(end.at(-1)).toMatchObject({ type: "done", text: "Done: The harbour." });
    });
  });

  it("restarted in turn behind a balancer lose no run and no event, and do nothing twice (F82, F84)", async () => {
    // In a database of its own: the other two servers would take over its runs.
    const admin = new pg.Client(postgres.url);
    await admin.connect();
    await admin.query("CREATE DATABASE rolling");
    await admin.end();
    const url = new URL(postgres.url);
    url.pathname = "/rolling";
    await restartInTurn({ type: "postgres", url: url.href }, 4);
  });

  it("the same request at both starts one run (F84)", async () => {
    const request = { ...toInput({ say: "Hello." }), key: "k" };
    const started = await Promise.all([...clients, ...clients].map((client) => client.runs.start(request)));
    expect(new Set(started.map(({ runId }) => runId)).size).toBe(1);
  });
});

describe("two servers on one file of SQLite", () => {
  it("many concurrent identical requests start one run, which does its work once (F84)", async () => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-two-servers-"));
    const canary = join(folder, "canary");
    const store = { type: "sqlite", file: join(folder, "store.db") } as const;
    const order = { store, port: 0, canary, leaseMs: 60_000 };
    const servers = await Promise.all([startServerWorker(order), startServerWorker(order)]);
    try {
      const asked = Array.from({ length: 10 }, async (_, index) => {
        const answer = await fetch(`${servers[index % 2]?.url}/api/runs`, {
          method: "POST",
          headers: { "content-type": "application/json", "idempotency-key": "order-1" },
          body: JSON.stringify(toInput({ call: "look" })),
        });
        return { status: answer.status, body: (await answer.json()) as { readonly runId: string } };
      });
      const answers = await Promise.all(asked);
      expect(new Set(answers.map(({ body }) => body.runId)).size).toBe(1);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(9).fill(200), 201]);
      const client = createClient({ baseURL: servers[1].url });
      const heard = await collectEvents(client.runs.events(answers[0]?.body.runId ?? ""));
      expect(heard.at(-1)).toMatchObject({ type: "done", status: "done" });
      expect(await client.sessions.list()).toHaveLength(1);
      expect(heard.filter(({ type }) => type === "run_start")).toHaveLength(1);
      expect(readFileSync(canary, "utf8").trim().split("\n")).toHaveLength(1);
    } finally {
      await Promise.all(servers.map((server) => server.kill()));
      rmSync(folder, { recursive: true });
    }
  });
});

/** Streamed texts. */
function joinDeltas(events: readonly Event[]): string[] {
  const lives: string[] = [];
  let view = emptyView;
  for (const event of events) {
    view = reduce(view, event);
    if (event.type === "content_delta") lives.push(view.live.text);
  }
  return lives;
}

/** A session's stream has no end. */
async function* untilDone(events: AsyncIterable<Event>): AsyncGenerator<Event> {
  for await (const event of events) {
    yield event;
    if (event.type === "done") return;
  }
}
