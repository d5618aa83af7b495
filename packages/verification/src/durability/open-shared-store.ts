import type { Store } from "capstan";
import { postgres } from "capstan/stores/postgres";
import { sqlite } from "capstan/stores/sqlite";
import pg from "pg";

/** Address of a store that several processes can open. */
export type StoreAddress =
  | { readonly type: "sqlite"; readonly file: string }
  | { readonly type: "postgres"; readonly url: string; readonly schema: string };

export function openSharedStore(address: StoreAddress): Store {
  if (address.type === "sqlite") return sqlite(address.file, { pollMs: 50 });
  const { url, schema } = address;
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  // The pool replaces a broken idle connection on its next use.
  pool.on("error", () => undefined);
  const store = postgres(pool, { schema });
  return {
    ...store,
    async close() {
      await store.close();
      await pool.end();
    },
  };
}
