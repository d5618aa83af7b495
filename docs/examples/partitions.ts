import { postgres } from "capstan/stores/postgres";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.env.CAPSTAN_DATABASE });
const store = postgres(pool, { partitions: 16 });
await store.list({ limit: 1 }); // creates the schema
await store.close();
await pool.end();
