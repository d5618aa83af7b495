import pg from "pg";
import type { Store } from "../store.ts";
import { postgres } from "../stores/postgres/postgres.ts";
import { sqlite } from "../stores/sqlite/sqlite.ts";

/** A store that several processes can open. */
export type StoreAddress =
  | { readonly type: "sqlite"; readonly file: string }
  | { readonly type: "postgres"; readonly url: string; readonly schema: string };

export function openStore(address: StoreAddress): Store {
  if (address.type === "sqlite") return sqlite(address.file, { pollMs: 50 });
  const { url, schema } = address;
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  // An idle connection that breaks is replaced at its next use.
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
