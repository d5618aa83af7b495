// Records the databases that the current version writes, for the tests of later versions:
//   node --conditions=capstan-source packages/verification/src/versions/record.ts NUMBER
// Writes `fixtures/version-NUMBER.db.gz`, a SQLite file, and `fixtures/version-NUMBER.sql.gz`, which creates the Postgres
// schema `recorded` with its rows. Record a version once, before the next one begins, and keep the files.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gzipSync } from "node:zlib";
import { type PostgresPool, postgres } from "capstan/stores/postgres";
import type pg from "pg";
import type { StoreAddress } from "../durability/open-shared-store.ts";
import { startPostgres } from "../postgres/start-postgres.ts";

const schema = "recorded";
const killed = ["killed_during_look", "killed_during_pay", "killed_during_model_call"];

/** Runs each scenario in a separate process, killing some of them. `expireLeases` ends the leases they leave. */
async function recordRuns(address: StoreAddress, expireLeases: () => unknown): Promise<void> {
  await recordRun(address, "recovered", "SIGKILL");
  await expireLeases();
  await recordRun(address, "recover", null);
  for (const name of killed) await recordRun(address, name, "SIGKILL");
  await recordRun(address, "", null);
  await expireLeases();
}

async function recordRun(
  address: StoreAddress,
  name: string,
  expected: NodeJS.Signals | null,
): Promise<void> {
  const program = join(import.meta.dirname, "record-runs.ts");
  const flags = ["--conditions=capstan-source", "--disable-warning=ExperimentalWarning"];
  const options = [...flags, program, JSON.stringify(address), name];
  const child = spawn(process.execPath, options, { stdio: ["ignore", "inherit", "inherit"] });
  const [status, signal] = await once(child, "exit");
  if (signal !== expected || (signal === null && status !== 0)) throw new Error(`"${name}" failed.`);
}

async function recordSqlite(folder: string): Promise<Buffer> {
  const file = join(folder, "store.db");
  const execute = (sql: string) => {
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
  };
  await recordRuns({ type: "sqlite", file }, () => execute("UPDATE leases SET until = 0"));
  execute("PRAGMA wal_checkpoint(TRUNCATE); VACUUM");
  return readFileSync(file);
}

async function recordPostgres(): Promise<string> {
  const server = await startPostgres();
  try {
    const pool = server.pool();
    const statements = await createSchema(pool);
    await recordRuns({ type: "postgres", url: server.url, schema }, () =>
      pool.query(`UPDATE ${schema}.leases SET until = 'epoch'`),
    );
    return [...statements, ...(await dumpRows(pool))].map((sql) => `${sql.replace(/;\s*$/, "")};\n`).join("");
  } finally {
    await server.stop();
  }
}

/** Creates the schema of this version and returns the statements that did. */
async function createSchema(pool: pg.Pool): Promise<string[]> {
  const statements: string[] = [];
  const recording: PostgresPool = {
    on: (event, listener) => pool.on(event, listener),
    off: (event, listener) => pool.off(event, listener),
    query: (text, values) => pool.query(text, values),
    async connect() {
      const client = await pool.connect();
      const query = client.query.bind(client);
      return Object.assign(Object.create(client), {
        query(text: string, values?: unknown[]) {
          if (!/^\s*(BEGIN|COMMIT|SELECT)/.test(text)) statements.push(inlineNumbers(text, values));
          return query(text, values);
        },
        release: (isBroken: boolean) => client.release(isBroken),
      });
    },
  };
  const store = postgres(recording, { schema });
  await store.list();
  await store.close();
  return statements;
}

function inlineNumbers(text: string, values: readonly unknown[] = []): string {
  return values.reduce<string>(
    (sql, value, index) => sql.replace(`$${index + 1}`, String(Number(value))),
    text,
  );
}

/** Returns an INSERT per table, and the positions of its sequences. */
async function dumpRows(pool: pg.Pool): Promise<string[]> {
  const listTables = `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname <> 'version'
    AND relnamespace = '${schema}'::regnamespace ORDER BY relname`;
  // The tables refer to each other, in any order.
  const statements: string[] = ["SET session_replication_role = replica"];
  for (const { name } of (await pool.query(listTables)).rows) {
    const { rows } = await pool.query(`SELECT to_json(item)::text AS json FROM ${schema}.${name} AS item`);
    const json = `[${rows.map((row) => row.json).join(",\n")}]`.replaceAll("'", "''");
    statements.push(`INSERT INTO ${schema}.${name} OVERRIDING SYSTEM VALUE
      SELECT * FROM json_populate_recordset(NULL::${schema}.${name}, '${json}')`);
  }
  const listSequences = `SELECT sequencename AS name, coalesce(last_value, 0) + 1 AS next FROM pg_sequences
    WHERE schemaname = '${schema}' ORDER BY sequencename`;
  for (const { name, next } of (await pool.query(listSequences)).rows)
    statements.push(`SELECT setval('${schema}.${name}', ${next}, false)`);
  return [...statements, "SET session_replication_role = DEFAULT"];
}

const version = Number(process.argv[2]);
if (!Number.isInteger(version)) throw new Error("Which version? Pass its number.");
const folder = mkdtempSync(join(tmpdir(), "capstan-record-"));
try {
  const write = (name: string, content: Buffer | string) =>
    writeFileSync(
      join(import.meta.dirname, "fixtures", `version-${version}.${name}.gz`),
      gzipSync(content, { level: 9 }),
    );
  write("db", await recordSqlite(folder));
  write("sql", await recordPostgres());
} finally {
  rmSync(folder, { recursive: true });
}
