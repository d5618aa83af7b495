import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { VectorCache } from "capstan/models";

/** Keeps vectors in a SQLite file, so that a document is embedded once, also when the index is rebuilt. */
export function createVectorStore(file: string): VectorCache {
  let statements: ReturnType<typeof open> | undefined;
  const getStatements = () => {
    statements ??= open(file);
    return statements;
  };
  return {
    get(keys) {
      const { read } = getStatements();
      return keys.map((key) => {
        const vector = read.get(key)?.vector;
        return vector instanceof Uint8Array ? [...toNumbers(vector)] : undefined;
      });
    },
    set(entries) {
      const { write, database } = getStatements();
      database.exec("BEGIN");
      for (const [key, vector] of entries) write.run(key, new Uint8Array(Float32Array.from(vector).buffer));
      database.exec("COMMIT");
    },
  };
}

/** The documents may be private, and a vector tells much about its text: only the user can read the file. */
function open(file: string) {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, "", { flag: "a", mode: 0o600 });
  const database = new DatabaseSync(file);
  database.exec(
    "PRAGMA busy_timeout = 5000; CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB) WITHOUT ROWID",
  );
  return {
    database,
    read: database.prepare("SELECT vector FROM vectors WHERE key = ?"),
    write: database.prepare("INSERT OR REPLACE INTO vectors VALUES (?, ?)"),
  };
}

function toNumbers({ buffer, byteOffset, byteLength }: Uint8Array): Float32Array {
  return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength));
}
