import type { Memory, MemoryInfo } from "../memories/index.ts";
import { createConnection } from "./connection.ts";
import type { ClientOptions } from "./create-client.ts";
import { createEnvironment } from "./environment.ts";

export type { Memory, MemoryInfo };

/** Names a memory of the caller. */
export type MemoryKey = { readonly scope: string; readonly path: string };

/** A text that the user has written. `version` is that of the memory it replaces, 0 for a new one. */
export type EditedMemory = MemoryKey & { readonly text: string; readonly version: number };

/** Client of the caller's memories on a server. */
export interface MemoriesClient {
  /** Lists the memories, the one changed last first; with a query, the best match first. */
  list(search?: { readonly scope?: string; readonly query?: string }): Promise<readonly MemoryInfo[]>;
  get(key: MemoryKey): Promise<Memory>;
  /** Rejects with `position_conflict` if the memory has changed since. */
  save(memory: EditedMemory): Promise<Memory>;
  remove(key: MemoryKey): Promise<void>;
  /** Deletes all memories of the caller, or those of one scope. */
  removeAll(scope?: string): Promise<void>;
}

/** Creates a client for memories, apart from `createClient`: most pages need none. */
export function createMemoriesClient(options: ClientOptions = {}): MemoriesClient {
  const { request } = createConnection(options, createEnvironment(options));
  const getPath = (scope: string) => `/api/memories/${encodeURIComponent(scope)}`;
  return {
    list: async (search = {}) =>
      (
        await request<{ memories: readonly MemoryInfo[] }>({
          ...{ method: "GET", path: "/api/memories", query: { ...search } },
        })
      ).memories,
    get: ({ scope, path }) => request({ method: "GET", path: getPath(scope), query: { path } }),
    save: ({ scope, ...body }) => request({ method: "PUT", path: getPath(scope), body }),
    async remove({ scope, path }) {
      await request({ method: "DELETE", path: getPath(scope), query: { path } });
    },
    async removeAll(scope) {
      const path = scope === undefined ? "/api/memories" : getPath(scope);
      await request({ method: "DELETE", path, isIdempotent: true });
    },
  };
}
