import { AgentError, suggestName } from "capstan";
import { local } from "capstan/engines/local";
import { isPostgres, resolveDatabase } from "../../workspace/open-store.ts";
import { type EngineContext, importEngine, type LoadedEngine } from "./loaded-engine.ts";

export const engineNames = ["local", "restate", "dbos"] as const;
export type EngineName = (typeof engineNames)[number];

/** Loads the engine that the flag or the config names. The packages of engines are optional. */
export async function loadEngine(context: EngineContext): Promise<LoadedEngine> {
  const { flags, workspace } = context;
  const chosen = flags.engine ?? workspace.config.engine ?? "local";
  if (typeof chosen === "function") return { create: chosen };
  const name = parseEngineName(chosen);
  const work = flags.work ?? true;
  if (name === "local") return { create: (parts) => local({ ...parts, work }) };
  if (name === "dbos") return loadDbos(context, work);
  const { loadRestate } = await import("./load-restate.ts");
  return loadRestate(context, work);
}

function parseEngineName(name: string): EngineName {
  const known = engineNames.find((each) => each === name);
  if (known) return known;
  const hint = suggestName(name, engineNames);
  throw new AgentError("invalid_input", `Unknown engine "${name}".${hint} Use local, restate or dbos.`);
}

async function loadDbos({ flags, workspace, io }: EngineContext, work: boolean): Promise<LoadedEngine> {
  const databaseUrl = io.env.DBOS_SYSTEM_DATABASE_URL ?? resolveDatabase(flags, workspace, io);
  if (!isPostgres(databaseUrl)) {
    const message =
      "The engine dbos needs Postgres. Set `database` in the config, CAPSTAN_DATABASE or DBOS_SYSTEM_DATABASE_URL to postgres://…";
    throw new AgentError("invalid_definition", message);
  }
  const { dbos } = await importEngine(() => import("@capstan/dbos"), "@capstan/dbos");
  let ready: Promise<void> | undefined;
  return {
    create(parts) {
      const engine = dbos({ ...parts, databaseUrl, work });
      ({ ready } = engine);
      return engine;
    },
    async startWork() {
      await ready;
      return [];
    },
  };
}
