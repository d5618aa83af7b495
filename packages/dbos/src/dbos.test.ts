import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgresFolder, type PostgresServer, startPostgres } from "@capstan/verification/postgres";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { type Agent, defineAgent, defineTool } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type DbosEngine, type DbosOptions, dbos } from "./dbos.ts";
import { withLaunchLock } from "./launch-lock.ts";
import { openSegmentQueue } from "./segment-queue.ts";

/** An agent that calls `work` once and then answers. */
function createAgent(work: () => Promise<string>, name = "worker"): Agent {
  const tool = defineTool({
    name: "work",
    description: "works",
    effects: "none",
    input: { type: "object" },
    execute: work,
  });
  const model = scriptedModel(({ history }) =>
    history.some(({ type }) => type === "result")
      ? { text: "Done." }
      : { calls: [{ name: "work", input: {} }] },
  );
  return defineAgent({ name, model, tools: [tool], policy: { gate: "off" } });
}

describe.skipIf(!findPostgresFolder())("on a Postgres server", () => {
  let server: PostgresServer;
  let schemaCount = 0;
  const engines: DbosEngine[] = [];
  beforeAll(async () => {
    server = await startPostgres({ durable: true });
  });
  afterEach(async () => {
    await Promise.all(engines.splice(0).map((engine) => engine.close()));
  });
  afterAll(() => server.stop());

  const newSchema = () => `dbos_${++schemaCount}`;
  function open(options: Partial<DbosOptions> & Pick<DbosOptions, "agents">): DbosEngine {
    const engine = dbos({
      store: memory(),
      databaseUrl: server.url,
      pollMs: 20,
      onError: () => undefined,
      ...options,
    });
    engines.push(engine);
    return engine;
  }

  it("executes what a process without workers enqueues, and that process follows the run", async () => {
    const agent = createAgent(async () => "ok");
    const options = { agents: agent, store: memory(), schema: newSchema() };
    const worker = open(options);
    await worker.ready;
    const client = open({ ...options, work: false });
    const { runId } = await client.enqueue(agent, "Go.");
    expect(await client.open(runId)).toMatchObject({ status: "done", text: "Done." });
  });

  it("runs two engines in one process, each on its own store", async () => {
    const schema = newSchema();
    const first = createAgent(async () => "first");
    const second = createAgent(async () => "second");
    const results = await Promise.all([
      open({ agents: first, schema, name: "first" }).run(first, "Go.", { runId: "run" }),
      open({ agents: second, schema, name: "second" }).run(second, "Go.", { runId: "run" }),
    ]);
    expect(results.map(({ toolCalls }) => toolCalls[0]?.result)).toEqual(["first", "second"]);
  });

  it("refuses a second engine in the process that has the same name or other settings", () => {
    const agents = createAgent(async () => "ok");
    const schema = newSchema();
    open({ agents, schema });
    expect(() => open({ agents, schema })).toThrow('This process has an engine "main" already.');
    expect(() => open({ agents, schema: newSchema(), name: "other" })).toThrow("`schema` must be the same");
    expect(() => open({ agents, schema, maxRuns: 7, name: "other" })).toThrow("`maxRuns` must be the same");
  });

  it("refuses to share the DBOS that other code has launched", async () => {
    DBOS.setConfig({
      ...{ name: "other", systemDatabaseUrl: server.url, systemDatabaseSchemaName: newSchema() },
      logLevel: "error",
    });
    await DBOS.launch();
    try {
      expect(() => open({ agents: [] })).toThrow("DBOS is launched in this process by other code");
    } finally {
      await DBOS.shutdown();
    }
    open({ agents: [], schema: newSchema() });
  });

  it("launches DBOS after another process has done so in the schema, and closes while it waits", async () => {
    const schema = newSchema();
    const agent = createAgent(async () => "ok");
    const [started, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { signal } = new AbortController();
    const launching = withLaunchLock({ databaseUrl: server.url, schema, signal }, () => {
      started.resolve();
      return finished.promise;
    });
    await started.promise;
    const pool = server.pool({ max: 1 });
    const count = async (query: string) =>
      (await pool.query(`SELECT count(*)::int FROM ${query}`)).rows[0].count;
    const countLocking = () => count("pg_stat_activity WHERE query LIKE 'SELECT pg_try_advisory_xact_lock%'");
    const countSchemas = () => count(`pg_namespace WHERE nspname = '${schema}'`);
    const first = open({ agents: agent, schema });
    await expect.poll(countLocking).toBe(2);
    await first.close();
    const second = open({ agents: agent, schema });
    await expect.poll(countLocking).toBe(2);
    expect(await countSchemas()).toBe(0);
    finished.resolve();
    await launching;
    expect(await second.run(agent, "Go.")).toMatchObject({ status: "done" });
    expect(await countSchemas()).toBe(1);
    await pool.end(); // a later test stops the server
  });

  it("one user's waiting runs do not delay another user's first", async () => {
    const release = Promise.withResolvers<string>();
    let started = 0;
    const slow = createAgent(() => {
      started += 1;
      return release.promise;
    }, "slow");
    const quick = createAgent(async () => "ok", "quick");
    const engine = open({ agents: [slow, quick], schema: newSchema(), maxRuns: 4, maxRunsPerUser: 2 });
    const waiting = Array.from({ length: 20 }, (_, index) =>
      engine.run(slow, "Go.", { session: `ann~${index}` }),
    );
    try {
      await expect.poll(() => started).toBe(2);
      expect(await engine.run(quick, "Go.", { session: "ben~1" })).toMatchObject({ status: "done" });
      expect(started).toBe(2);
    } finally {
      release.resolve("ok");
    }
    const results = await Promise.all(waiting);
    expect(results.every(({ status }) => status === "done")).toBe(true);
  });

  it("hands its runs back when it closes, long before their leases expire", async () => {
    const store = memory();
    const schema = newSchema();
    const step = Promise.withResolvers<string>();
    const isWorking = Promise.withResolvers<void>();
    const agent = createAgent(() => {
      isWorking.resolve();
      return step.promise;
    });
    const options = { agents: agent, store, schema, leaseMs: 600_000 };
    const first = open(options);
    const { runId } = await first.enqueue(agent, "Go.");
    await isWorking.promise;
    const closing = first.close();
    step.resolve("ok");
    await closing;
    expect((await store.findRun(runId))?.state).toBe("active");
    expect(await open(options).open(runId)).toMatchObject({ status: "done", text: "Done." });
  });

  it("waits for a database that is down, reports it, and then executes what was enqueued", async () => {
    const errors: unknown[] = [];
    const agent = createAgent(async () => "ok");
    const schema = newSchema();
    await server.crash();
    const options = { agents: agent, schema, leaseMs: 500, onError: (error: unknown) => errors.push(error) };
    const engine = open(options);
    const { runId } = await engine.enqueue(agent, "Go.");
    expect(errors.map(String).join()).toContain("ECONNREFUSED");
    await server.restart();
    expect(await engine.open(runId)).toMatchObject({ status: "done" });
    expect(errors.length).toBeLessThan(10);
  }, 60_000);

  it("a worker process that starts before its database waits for it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-dbos-"));
    const [store, traceFile] = [{ type: "sqlite", file: join(folder, "store.db") }, join(folder, "trace")];
    const settings = { databaseUrl: server.url, pollMs: 20 };
    const options = { store, traceFile, leaseMs: 500, program: { file: "", settings } };
    await server.crash();
    const file = join(import.meta.dirname, "testing/worker.ts");
    const child = spawn(process.execPath, ["--conditions=capstan-source", file, JSON.stringify(options)]);
    const exited = once(child, "exit").then(() => "exited");
    let [errors, reports] = ["", ""];
    child.stderr.on("data", (text) => {
      errors += text;
    });
    child.stdout.on("data", (text) => {
      reports += text;
    });
    try {
      await expect.poll(() => errors).toContain("ECONNREFUSED");
      await server.restart();
      const isReady = expect.poll(() => reports).toContain('"ready"');
      expect(await Promise.race([exited, isReady.then(() => "ready")]), errors).toBe("ready");
    } finally {
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true });
    }
  });

  it("executes tools outside of the workflow of DBOS, and opens no port", async () => {
    const agent = createAgent(
      async () => `${DBOS.isInWorkflow()} ${process.getActiveResourcesInfo().join(" ")}`,
    );
    const { toolCalls } = await open({ agents: agent, schema: newSchema() }).run(agent, "Go.");
    expect(toolCalls[0]?.result).toMatch(/^false /);
    expect(toolCalls[0]?.result).not.toContain("TCPServerWrap");
  });

  it("removes executed segments after the time of retention, and none that waits", async () => {
    const schema = newSchema();
    const agent = createAgent(async () => "ok");
    const engine = open({ agents: agent, schema, retentionMs: 1 });
    await engine.run(agent, "Go.", { runId: "executed" });
    const queue = openSegmentQueue({
      ...{ databaseUrl: server.url, schema, retentionMs: 1, maxRuns: 1, maxRunsPerUser: 1, pollMs: 1 },
      ...{ owner: undefined, report: () => undefined },
    });
    const waiting = {
      type: "wake",
      runId: "later",
      sessionId: "later",
      key: "later",
      engine: "main",
      attempt: 0,
    } as const;
    await queue.add(waiting, Date.now() + 3_600_000);
    const pool = server.pool({ max: 1 });
    const listIds = async () => {
      await queue.removeOld();
      const { rows } = await pool.query(`SELECT workflow_uuid FROM "${schema}".workflow_status`);
      return rows.map((row) => row.workflow_uuid);
    };
    await expect.poll(listIds).toEqual(["main/later"]);
    await queue.close();
  });
});

it("names the setting that is wrong", () => {
  const options = { store: memory(), agents: [], databaseUrl: "postgres://127.0.0.1/none" };
  expect(() => dbos({ ...options, databaseUrl: "localhost" })).toThrow("databaseUrl must be the URL");
  expect(() => dbos({ ...options, maxRuns: 0 })).toThrow("maxRuns must be a positive integer, not 0.");
  expect(() => dbos({ ...options, pollMs: 0.5 })).toThrow("pollMs must be a positive integer, not 0.5.");
});
