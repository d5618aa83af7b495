import type { Store } from "capstan";
import { loadProject, type Project } from "../config/load-project.ts";
import type { Io } from "../io.ts";
import { hasStore, openMemory, openStore, resolveDatabase } from "../workspace/open-store.ts";
import type { WorkspaceFlags } from "../workspace/workspace.ts";

/** What commands need that only look at what is stored. */
export type StoreContext = { readonly store: Store; readonly project: Project; readonly database: string };

/** Opens the database alone, without agents and servers, for as long as `use` takes. Makes none that is not there. */
export async function withStore<Value>(
  flags: WorkspaceFlags,
  io: Io,
  use: (reading: StoreContext) => Promise<Value>,
): Promise<Value> {
  const project = await loadProject(flags, io, "optional");
  const where = resolveDatabase(flags, project, io);
  const { store, database } = hasStore(where) ? await openStore(where) : await openMemory();
  try {
    return await use({ store, project, database });
  } finally {
    await store.close();
  }
}
