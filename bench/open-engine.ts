import { dbos } from "@capstan/dbos";
import { type RestateEngine, restate } from "@capstan/restate";
import type { Agent, Event, Hooks, Store } from "capstan";
import { type LocalEngine, local } from "capstan/engines/local";
import { postgres } from "capstan/stores/postgres";
import { sqlite } from "capstan/stores/sqlite";
import pg from "pg";

export const engineNames = ["sqlite", "postgres", "restate", "dbos"] as const;
export type EngineName = (typeof engineNames)[number];

/** Where the processes of one cell meet. `id` is unused elsewhere: it names schemas and services. */
export type EngineAddress = {
  readonly engine: EngineName;
  readonly id: string;
  readonly sqliteFile: string;
  readonly postgresUrl: string;
  readonly ingressUrl: string;
};

export type OpenEngine = {
  readonly engine: LocalEngine;
  readonly agent: Agent;
  readonly port?: number;
  close(): Promise<void>;
};

type OpenOptions = {
  readonly agent: Agent;
  /** False: only stores starts. */
  readonly work: boolean;
  /** Called with the facts of the runs that this process executes, when they are stored. */
  onEvent?(event: Event): void;
};

export async function openEngine(address: EngineAddress, options: OpenOptions): Promise<OpenEngine> {
  const { store, close } = openStore(address);
  const { agent: agents, work, onEvent } = options;
  const getResumeOptions = () => ({ hooks: onEvent ? { onEvent } : {} });
  const { engine, port } = await createEngine(address, { store, agents, work, getResumeOptions });
  return {
    ...{ engine, agent: options.agent },
    ...(port !== undefined && { port }),
    async close() {
      await engine.close();
      await close();
    },
  };
}

type EngineOptions = Pick<OpenOptions, "work"> & {
  readonly store: Store;
  readonly agents: Agent;
  getResumeOptions(): { readonly hooks: Hooks };
};

async function createEngine(
  { engine: name, id, postgresUrl, ingressUrl }: EngineAddress,
  { work, ...options }: EngineOptions,
): Promise<{ engine: LocalEngine; port?: number }> {
  if (name === "restate") {
    const engine: RestateEngine = restate({ ...options, ingress: { url: ingressUrl }, service: id });
    if (!work) return { engine };
    const { port } = await engine.listen();
    return { engine, port };
  }
  if (name === "dbos") {
    const engine = dbos({ ...options, work, databaseUrl: postgresUrl, schema: `${id}_queue` });
    await engine.ready;
    return { engine };
  }
  return { engine: local({ ...options, work }) };
}

function openStore({ engine, id, sqliteFile, postgresUrl }: EngineAddress): {
  store: Store;
  close(): Promise<void>;
} {
  if (engine === "sqlite") {
    const store = sqlite(sqliteFile);
    return { store, close: () => store.close() };
  }
  const pool = new pg.Pool({ connectionString: postgresUrl });
  pool.on("error", () => undefined); // the server may be stopped first
  const store = postgres(pool, { schema: id });
  return { store, close: () => store.close().then(() => pool.end()) };
}
