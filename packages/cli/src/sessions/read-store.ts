import type { Store } from "capstan";
import { loadProject, type Project } from "../config/load-project.ts";
import type { Io } from "../io.ts";
import { hasStore, openMemory, openStore, resolveDatabase } from "../workspace/open-store.ts";
import { openLogs, type WorkspaceFlags } from "../workspace/workspace.ts";
import { withSessionCleanup } from "./with-session-cleanup.ts";

/** Passed to commands that only use the database. */
export type StoreContext = { readonly store: Store; readonly project: Project; readonly database: string };

/** Opens only the database, without agents and servers, while `use` runs. Never creates a database. */
export async function withStore<Value>(
  flags: WorkspaceFlags,
  io: Io,
  use: (reading: StoreContext) => Promise<Value>,
): Promise<Value> {
  const project = await loadProject(flags, io, "optional");
  const where = resolveDatabase(flags, project, io);
  const { store: opened, database } = hasStore(where) ? await openStore(where) : await openMemory();
  const store = withSessionCleanup(opened, await openLogs(project, io));
  try {
    return await use({ store, project, database });
  } finally {
    await store.close();
  }
}
