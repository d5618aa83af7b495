import type { CreateEngine } from "@capstan/server";
import { AgentError } from "capstan";
import type { Io } from "../../io.ts";
import type { Workspace, WorkspaceFlags } from "../../workspace/workspace.ts";

/** Flags of the commands that execute or serve runs. */
export type EngineFlags = {
  readonly engine?: string;
  /** False if other processes execute the runs. */
  readonly work?: boolean;
};

export type EngineContext = {
  readonly flags: WorkspaceFlags & EngineFlags;
  readonly workspace: Pick<Workspace, "config" | "configFile" | "home">;
  readonly io: Io;
  /** Whether a server for a trial is started if none is configured. */
  readonly isTrial?: boolean | undefined;
};

/** The engine that a command uses. */
export type LoadedEngine = {
  readonly create: CreateEngine;
  /** Makes this process a worker, once its engine is created. Returns lines for the announcement. */
  startWork?(): Promise<readonly string[]>;
};

/** Imports the package of an engine. Throws `invalid_definition` with the command that installs it. */
export async function importEngine<Module>(load: () => Promise<Module>, name: string): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    const message = `The engine is not installed. Run \`npm install ${name}\`.`;
    throw new AgentError("invalid_definition", message, { cause });
  }
}
