import { dbos } from "@capstan/dbos";
import { defineAgent } from "capstan";
import { postgres } from "capstan/stores/postgres";
import { scriptedModel } from "capstan/testing";
import pg from "pg";

const databaseUrl = process.env.DATABASE_URL;
if (databaseUrl === undefined) {
  console.log("Set DATABASE_URL to a Postgres database.");
  process.exit();
}

const agent = defineAgent({ name: "clerk", model: scriptedModel([{ text: "Filed." }]) });
const pool = new pg.Pool({ connectionString: databaseUrl });
const store = postgres(pool);

// In every worker:
const worker = dbos({ store, agents: agent, databaseUrl });
await worker.ready;

// In the web server, which executes nothing:
const engine = dbos({ store, agents: agent, databaseUrl, work: false });
const { runId } = await engine.enqueue(agent, "File the letter.");
const { status, text } = await engine.open(runId);
console.log(`${status}: ${text}`);

await engine.close();
await worker.close();
await store.close();
await pool.end();
