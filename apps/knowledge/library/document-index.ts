// A SQLite database with full-text search (FTS5, ranked by BM25). The passages of a document have consecutive rows.
//   documents  id, title, place, url, source | file, size, modified: the version that was read
//              first_row, last_row of its passages | problem: why it could not be read, or what was left out
//   passages   title, heading, body | document, anchor, fragment
//   people     name, packages | url, roles

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FoundDocument } from "./find-documents.ts";
import type { SkippedFile } from "./find-files.ts";
import type { Person } from "./package-facts.ts";
import type { ParsedDocument } from "./parse/parsed-document.ts";

/** Also changes when a parser gives other passages, so that every document is read again. */
const schemaVersion = 3;

const schema = `
  CREATE TABLE documents (
    id TEXT PRIMARY KEY, title TEXT, place TEXT, url TEXT, source TEXT, file TEXT, size INTEGER, modified REAL,
    first_row INTEGER, last_row INTEGER, problem TEXT);
  CREATE VIRTUAL TABLE passages USING fts5(
    title, heading, body, document UNINDEXED, anchor UNINDEXED, fragment UNINDEXED,
    tokenize = 'porter unicode61', prefix = '3 4');
  CREATE VIRTUAL TABLE people USING fts5(name, packages, url UNINDEXED, roles UNINDEXED);
  PRAGMA user_version = ${schemaVersion};
`;

/** The version of a document in the index. */
export type IndexedVersion = Pick<FoundDocument, "id" | "file" | "size" | "mtimeMs">;

/** Writes documents. Every write is a transaction of its own, so that other processes see whole documents. */
export interface DocumentIndex {
  readonly database: DatabaseSync;
  listVersions(): readonly IndexedVersion[];
  /** Adds or replaces a document. */
  put(document: FoundDocument, parsed: ParsedDocument): void;
  /** Remembers that this version cannot be read, and why. */
  putProblem(document: FoundDocument, problem: string): void;
  remove(id: string): void;
  setPeople(people: readonly Person[]): void;
  count(): { readonly documents: number; readonly passages: number };
  /** The documents that could not be read, or only in part. */
  listProblems(): readonly SkippedFile[];
}

/** Opens the index in a file that only the user can read, or in memory. A broken or old file is replaced. */
export function openDocumentIndex(file?: string): DocumentIndex {
  if (file === undefined) return createDocumentIndex(prepareDatabase(new DatabaseSync(":memory:")));
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    return createDocumentIndex(openFile(file));
  } catch {
    for (const ending of ["", "-wal", "-shm"]) rmSync(file + ending, { force: true });
    return createDocumentIndex(openFile(file));
  }
}

function openFile(file: string): DatabaseSync {
  // SQLite would create a file that other users can read.
  writeFileSync(file, "", { flag: "a", mode: 0o600 });
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    return prepareDatabase(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

function prepareDatabase(database: DatabaseSync): DatabaseSync {
  inTransaction(database, () => {
    const version = Number(database.prepare("PRAGMA user_version").get()?.user_version);
    if (version !== schemaVersion && version !== 0) throw new Error("The index has another version.");
    if (version === 0) database.exec(schema);
  });
  return database;
}

function createDocumentIndex(database: DatabaseSync): DocumentIndex {
  const findRows = database.prepare("SELECT first_row, last_row FROM documents WHERE id = ?");
  const deletePassages = database.prepare("DELETE FROM passages WHERE rowid BETWEEN ? AND ?");
  const deleteDocument = database.prepare("DELETE FROM documents WHERE id = ?");
  const addDocument = database.prepare("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const addPassage = database.prepare("INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)");
  const listPassages = database.prepare(
    "SELECT anchor, body FROM documents JOIN passages ON passages.rowid BETWEEN first_row AND last_row WHERE id = ?",
  );
  const counts = database.prepare(
    "SELECT count(first_row) AS documents, total(last_row - first_row + 1) AS passages FROM documents",
  );
  const problems = database.prepare(
    "SELECT id, problem FROM documents WHERE problem IS NOT NULL ORDER BY id",
  );
  const people = database.prepare("SELECT name, packages, url, roles FROM people ORDER BY rowid");
  const listAll = database.prepare("SELECT id, file, size, modified FROM documents");
  const addPerson = database.prepare("INSERT INTO people VALUES (?, ?, ?, ?)");

  function removeNow(id: string): void {
    const rows = findRows.get(id);
    if (rows?.first_row != null && rows.last_row != null) deletePassages.run(rows.first_row, rows.last_row);
    deleteDocument.run(id);
  }

  function write(document: FoundDocument, parsed: ParsedDocument, problem: string | undefined): void {
    const { id, place, url, source, file, size, mtimeMs } = document;
    // The name stays part of the title, because users search by it.
    const title = parsed.title ? `${parsed.title} (${document.title})` : document.title;
    inTransaction(database, () => {
      const reviseAnchor = createAnchorReviser(listPassages.all(id));
      removeNow(id);
      const rows = parsed.sections.map(({ heading, text, anchor, fragment = null }) =>
        Number(
          addPassage.run(title, heading, text, id, reviseAnchor(anchor, text), fragment).lastInsertRowid,
        ),
      );
      const ends = [rows[0] ?? null, rows.at(-1) ?? null];
      addDocument.run(id, title, place, url ?? null, source, file, size, mtimeMs, ...ends, problem ?? null);
    });
  }

  return {
    database,
    listVersions: () =>
      listAll.all().map(({ id, file, size, modified }) => ({
        id: String(id),
        file: String(file),
        size: Number(size),
        mtimeMs: Number(modified),
      })),
    put: (document, parsed) => write(document, parsed, parsed.note),
    putProblem: (document, problem) => write(document, { sections: [] }, problem),
    remove: (id) => inTransaction(database, () => removeNow(id)),
    setPeople(next) {
      const rows = next.map(({ name, packages, url = null }) => ({
        name,
        packages: packages.map((entry) => entry.name).join(" "),
        url,
        roles: JSON.stringify(packages),
      }));
      if (JSON.stringify(people.all()) === JSON.stringify(rows)) return;
      inTransaction(database, () => {
        database.exec("DELETE FROM people");
        for (const { name, packages, url, roles } of rows) addPerson.run(name, packages, url, roles);
      });
    },
    count() {
      const { documents, passages } = counts.get() ?? {};
      return { documents: Number(documents), passages: Number(passages) };
    },
    listProblems: () =>
      problems.all().map(({ id, problem }) => ({ item: String(id), reason: String(problem) })),
  };
}

/**
 * Gives a passage whose text has changed another anchor, such as `hotels@2`: a session keeps the text it has once seen
 * under an id.
 */
function createAnchorReviser(
  passages: readonly Readonly<Record<string, unknown>>[],
): (anchor: string, text: string) => string {
  const known = new Map(
    passages.map(({ anchor, body }) => {
      const [base = "", revision = "1"] = String(anchor).split(/@(?=\d+$)/);
      return [base, { revision: Number(revision), text: body }];
    }),
  );
  return (anchor, text) => {
    const { revision = 1, text: oldText = text } = known.get(anchor) ?? {};
    const next = text === oldText ? revision : revision + 1;
    return next === 1 ? anchor : `${anchor}@${next}`;
  };
}

function inTransaction(database: DatabaseSync, write: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    write();
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
