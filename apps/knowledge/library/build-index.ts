import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FoundDocument } from "./find-documents.ts";
import { collectPeople, type PackageFacts } from "./package-facts.ts";
import { splitSections } from "./split-sections.ts";

export type IndexSource = {
  readonly documents: readonly FoundDocument[];
  readonly packages: readonly PackageFacts[];
  readonly fingerprint: string;
};

/** Receives progress messages. */
export type Progress = (message: string) => void;

const schema = `
  CREATE TABLE documents (id TEXT PRIMARY KEY, title TEXT, place TEXT, url TEXT, source TEXT);
  CREATE VIRTUAL TABLE passages USING fts5(
    title, heading, body, document UNINDEXED, anchor UNINDEXED, tokenize = 'porter unicode61');
  CREATE VIRTUAL TABLE people USING fts5(name, packages, url UNINDEXED, roles UNINDEXED);
  CREATE TABLE about (fingerprint TEXT);
`;

/**
 * Builds the index in a new database. Files are processed one at a time and yield to the event loop in between, so that
 * a server stays responsive while it indexes.
 */
export async function buildIndex(
  file: string,
  source: IndexSource,
  progress: Progress,
): Promise<DatabaseSync> {
  const database = new DatabaseSync(file);
  try {
    // Without a journal, a crash corrupts the file. That is safe: the caller renames it only when it is complete.
    database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; ${schema} BEGIN`);
    const add = createDocumentWriter(database, source);
    for (const [index, document] of source.documents.entries()) {
      await add(document);
      if (index % 25 === 0) progress(`Indexing: ${index} of ${source.documents.length} documents`);
    }
    addPeople(database, source.packages);
    database.prepare("INSERT INTO about VALUES (?)").run(source.fingerprint);
    database.exec("COMMIT");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function createDocumentWriter(
  database: DatabaseSync,
  { packages }: IndexSource,
): (document: FoundDocument) => Promise<void> {
  const urls = new Map(packages.map(({ name, url }) => [name, url]));
  const addDocument = database.prepare("INSERT INTO documents VALUES (?, ?, ?, ?, ?)");
  const addPassage = database.prepare("INSERT INTO passages VALUES (?, ?, ?, ?, ?)");
  return async ({ id, title, file, source }) => {
    const sections = splitSections(await readFile(file, "utf8"));
    const url = source === "packages" ? urls.get(getPackageName(id)) : undefined;
    const place = source === "packages" && !id.includes("/docs/") ? `${id}/${basename(file)}` : id;
    addDocument.run(id, title, place, url ?? null, source);
    for (const { anchor, heading, text } of sections) addPassage.run(title, heading, text, id, anchor);
  };
}

/** `@scope/name` for `@scope/name/docs/page.md`. */
const getPackageName = (id: string): string => id.split("/docs/")[0] ?? id;

function addPeople(database: DatabaseSync, packages: readonly PackageFacts[]): void {
  const add = database.prepare("INSERT INTO people VALUES (?, ?, ?, ?)");
  for (const { name, url, packages: personPackages } of collectPeople(packages))
    add.run(
      name,
      personPackages.map((entry) => entry.name).join(" "),
      url ?? null,
      JSON.stringify(personPackages),
    );
}
