import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type pg from "pg";

const folder = join(import.meta.dirname, "fixtures");

/** The schema of the recorded Postgres tables. */
export const fixtureSchema = "recorded";

/** Writes the SQLite file that a version recorded. */
export function writeSqliteFixture(version: number, file: string): void {
  writeFileSync(file, readFixture(`version-${version}.db.gz`));
}

/** Creates the Postgres tables that a version recorded. */
export async function createPostgresFixture(version: number, pool: pg.Pool): Promise<void> {
  await pool.query(`DROP SCHEMA IF EXISTS ${fixtureSchema} CASCADE`);
  // The rows are complete, and not in the order of their references: no trigger adds to them or checks them.
  const rows = readFixture(`version-${version}.sql.gz`).toString();
  await pool.query(`BEGIN; SET LOCAL session_replication_role = replica; ${rows}; COMMIT`);
}

function readFixture(name: string): Buffer {
  return gunzipSync(readFileSync(join(folder, name)));
}
