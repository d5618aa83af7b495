import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fact, Result, Run, Store } from "capstan";
import { type LocalEngine, local } from "capstan/engines/local";
import { fold } from "capstan/internal/verification";
import { postgres } from "capstan/stores/postgres";
import { sqlite } from "capstan/stores/sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findPostgresFolder, type PostgresServer, startPostgres } from "../postgres/start-postgres.ts";
import { createFixtureAgents } from "./fixture-agents.ts";
import { createPostgresFixture, fixtureSchema, writeSqliteFixture } from "./open-fixture.ts";

/** Versions whose databases were recorded, and the scenarios that the first of them did not have. */
const versions = [1, 2, 3];
const addedRuns = {
  finished: [
    "background_finished",
    "continued_message",
    "edited_call",
    "found_tool",
    "hosted_search",
    "retried",
  ],
  unfinished: ["background_waiting"],
};

let folder = "";
let server: PostgresServer | undefined;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "capstan-versions-"));
  if (findPostgresFolder()) server = await startPostgres();
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true });
});

const openStore: Record<"sqlite" | "postgres", (version: number) => Promise<Store>> = {
  async sqlite(version) {
    const file = join(mkdtempSync(join(folder, "store-")), "store.db");
    writeSqliteFixture(version, file);
    return sqlite(file);
  },
  async postgres(version) {
    if (!server) throw new Error("no server");
    await createPostgresFixture(version, server.pool());
    return postgres(server.pool(), { schema: fixtureSchema });
  },
};
const cases = versions.flatMap((version) =>
  (["sqlite", ...(findPostgresFolder() ? ["postgres" as const] : [])] as const).map((name) => ({
    version,
    name,
  })),
);

describe.each(cases)("a $name database of version $version", ({ version, name }) => {
  let store: Store;
  let engine: LocalEngine | undefined;
  beforeEach(async () => {
    store = await openStore[name](version);
  });
  afterEach(async () => {
    await engine?.close();
    await store.close();
  });

  it("lists and folds every session, and keeps blobs, records, titles and messages (F78)", async () => {
    const sessions = await store.list();
    expect(sessions).toHaveLength(version < 3 ? 26 : 26 + Object.values(addedRuns).flat().length);
    const types = new Set<Fact["type"]>();
    for (const { id, facts: count } of sessions) {
      const facts = await store.read(id);
      expect(facts).toHaveLength(count);
      const { run } = fold(id, facts);
      for (const fact of facts) {
        types.add(fact.type);
        if (fact.type !== "tool_call_result" || !fact.handle) continue;
        expect(await store.getBlob(id, fact.handle)).toMatchObject({ mediaType: expect.any(String) });
      }
      const [newest] = (await store.listRuns(id)).slice(-1);
      expect(run?.done !== undefined).toBe(newest?.state === "ended");
    }
    const added = version < 3 ? [] : ["message_partial", "retried"];
    expect([...types].sort()).toEqual([...typesOfVersion1, ...added].sort());
    expect(await store.getSession("finished")).toMatchObject({ title: "A café" });
    expect(await store.getSession("empty")).toMatchObject({ facts: 0 });
    expect(await store.listMessages("with_pending_message")).toMatchObject([{ key: "k1", type: "approve" }]);
    expect(await store.getRecord("note", "first")).toMatchObject({ version: 2, body: { text: "two" } });
    expect((await store.search("remember")).length).toBeGreaterThan(0);
  });

  it("continues every unfinished run to its end (F78)", async () => {
    const unfinished = (await listAllRuns(store)).filter(({ state }) => state !== "ended");
    const added = version < 3 ? [] : addedRuns.unfinished;
    expect(unfinished.map(({ runId }) => runId).sort()).toEqual([...unfinishedRuns, ...added].sort());
    engine = local({ store, agents: createFixtureAgents("resume") });
    const results = new Map<string, Result>();
    for (const { runId } of unfinished) results.set(runId, await finishRun(engine.open(runId)));
    for (const [runId, { status, text }] of results)
      expect([runId, status, text]).toEqual([runId, "done", "All done."]);
    const outcomes = (runId: string) =>
      results.get(runId)?.toolCalls.map(({ name, status }) => `${name}: ${status}`);
    expect(outcomes("killed_during_look")).toEqual(["look: ok"]);
    expect(outcomes("killed_during_pay")).toEqual(["look: ok", "pay: interrupted"]);
    expect(outcomes("nested_waiting")).toEqual(["helper: ok"]);
    expect(outcomes("waiting_for_client")).toEqual(["measure: ok"]);
    expect(outcomes("waiting_for_question")).toEqual(["ask: ok"]);
    expect(outcomes("waiting_for_approval")).toEqual(["send: ok", "look: ok"]);
    expect(outcomes("with_pending_message")).toEqual(["send: ok"]);
    expect((await listAllRuns(store)).filter(({ state }) => state !== "ended")).toEqual([]);
  });

  it("starts new runs in its sessions (F78)", async () => {
    const [guide] = createFixtureAgents("resume");
    engine = local({ store, agents: guide });
    for (const session of [
      "finished",
      "cancelled",
      "failed",
      "out_of_turns",
      "handed_back",
      "nested_finished",
    ])
      expect((await engine.run(guide, "[]", { session })).text).toBe("All done.");
  });
});

const typesOfVersion1 = [
  "approval_required",
  "approval_resolved",
  "cancel_requested",
  "compacted",
  "compaction_start",
  "done",
  "error",
  "handoff",
  "handoff_denied",
  "handoff_return",
  "limit_reached",
  "message",
  "model_failed",
  "recovered",
  "run_start",
  "steered",
  "tool_call_result",
  "tool_call_start",
  "turn_end",
  "turn_start",
  "turn_summary",
  "waiting",
  "warning",
  "woken",
];

const unfinishedRuns = [
  "compacted",
  "handed_off",
  "killed_during_look",
  "killed_during_model_call",
  "killed_during_pay",
  "nested_waiting",
  "rate_limited",
  "recovered",
  "waiting_for_approval",
  "waiting_for_client",
  "waiting_for_question",
  "with_pending_message",
];

async function listAllRuns(store: Store) {
  const sessions = await store.list();
  return (await Promise.all(sessions.map(({ id }) => store.listRuns(id)))).flat();
}

/** Answers everything a run waits for. */
async function finishRun(run: Run): Promise<Result> {
  let result = await run;
  for (const call of result.pending) {
    if (call.needs === "answer") run.answer(call.callId, "3 meters");
    else run.approve(call.callId, call.question && "blue");
    result = await run;
  }
  return result;
}
