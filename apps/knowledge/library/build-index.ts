import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FoundDocument } from "./find-documents.ts";
import { type PackageFacts, peopleOf } from "./package-facts.ts";
import { splitSections } from "./split-sections.ts";

/** What an index is made of. */
export type Stock = {
  readonly documents: readonly FoundDocument[];
  readonly packages: readonly PackageFacts[];
  readonly fingerprint: string;
};

/** Hears in words how far it is. */
export type Progress = (words: string) => void;

const schema = `
  CREATE TABLE documents (id TEXT PRIMARY KEY, title TEXT, place TEXT, url TEXT, source TEXT);
  CREATE VIRTUAL TABLE passages USING fts5(
    title, heading, body, document UNINDEXED, anchor UNINDEXED, tokenize = 'porter unicode61');
  CREATE VIRTUAL TABLE people USING fts5(name, packages, url UNINDEXED, roles UNINDEXED);
  CREATE TABLE about (fingerprint TEXT);
`;

/**
 * Makes the index in a new database. The files are read and written one at a time, and everybody else gets a turn in
 * between: a server that indexes goes on serving.
 */
export async function buildIndex(file: string, stock: Stock, progress: Progress): Promise<DatabaseSync> {
  const database = new DatabaseSync(file);
  try {
    // A file that is cut off by a crash is never used: it gets its name when it is whole.
    database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; ${schema} BEGIN`);
    const add = adder(database, stock);
    for (const [index, document] of stock.documents.entries()) {
      await add(document);
      if (index % 25 === 0) progress(`Indexing: ${index} of ${stock.documents.length} documents`);
    }
    addPeople(database, stock.packages);
    database.prepare("INSERT INTO about VALUES (?)").run(stock.fingerprint);
    database.exec("COMMIT");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function adder(database: DatabaseSync, { packages }: Stock): (document: FoundDocument) => Promise<void> {
  const urls = new Map(packages.map(({ name, url }) => [name, url]));
  const addDocument = database.prepare("INSERT INTO documents VALUES (?, ?, ?, ?, ?)");
  const addPassage = database.prepare("INSERT INTO passages VALUES (?, ?, ?, ?, ?)");
  return async ({ id, title, file, source }) => {
    const sections = splitSections(await readFile(file, "utf8"));
    const url = source === "packages" ? urls.get(packageOf(id)) : undefined;
    const place = source === "packages" && !id.includes("/docs/") ? `${id}/${basename(file)}` : id;
    addDocument.run(id, title, place, url ?? null, source);
    for (const { anchor, heading, text } of sections) addPassage.run(title, heading, text, id, anchor);
  };
}

/** `@scope/name` of `@scope/name/docs/page.md`. */
const packageOf = (id: string): string => id.split("/docs/")[0] ?? id;

function addPeople(database: DatabaseSync, packages: readonly PackageFacts[]): void {
  const add = database.prepare("INSERT INTO people VALUES (?, ?, ?, ?)");
  for (const { name, url, packages: theirs } of peopleOf(packages))
    add.run(name, theirs.map((one) => one.name).join(" "), url ?? null, JSON.stringify(theirs));
}
