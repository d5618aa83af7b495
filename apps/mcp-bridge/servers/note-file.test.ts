import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openNoteFile, searchNotes } from "./note-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-notes-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the file of notes", () => {
  it("starts with samples and stores additions and removals", () => {
    const file = join(folder, "deep", "notes.json");
    expect(openNoteFile(file).list()).toHaveLength(2);
    expect(openNoteFile(file).add("Buy milk.")).toEqual({ id: 3, text: "Buy milk." });
    expect(openNoteFile(file).remove(1)).toMatchObject({ id: 1 });
    expect(openNoteFile(file).remove(1)).toBeUndefined();
    expect(
      openNoteFile(file)
        .list()
        .map(({ id }) => id),
    ).toEqual([2, 3]);
  });

  it("is not overwritten if it cannot be read", () => {
    const file = join(folder, "notes.json");
    writeFileSync(file, "half a");
    expect(() => openNoteFile(file).add("More.")).toThrow(/JSON/);
  });

  it("is readable only by the owner, and safe against concurrent writers", () => {
    const file = join(folder, "data", "notes.json");
    openNoteFile(file).add("Mine.");
    expect(statSync(join(folder, "data")).mode & 0o777).toBe(0o700);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    mkdirSync(`${file}.new`);
    expect(openNoteFile(file).add("Mine too.").id).toBe(4);
    expect(readdirSync(join(folder, "data")).sort()).toEqual(["notes.json", "notes.json.new"]);
  });

  it("is searched by most words, ignoring case", () => {
    const notes = openNoteFile(join(folder, "notes.json")).list();
    expect(searchNotes(notes, "BERGEN umbrella").map(({ id }) => id)).toEqual([1]);
    expect(searchNotes(notes, "garden meeting tomorrow").map(({ id }) => id)).toEqual([2]);
    expect(searchNotes(notes, "bergen hotel price")).toEqual([]);
  });

  it("is searched without stop words", () => {
    const notes = [{ id: 7, text: "The spare key is under the pot." }];
    for (const query of ["the spare key", "my spare keys?", "Key"])
      expect(searchNotes(notes, query)).toEqual(notes);
    expect(searchNotes(notes, "front wheel")).toEqual([]);
  });
});
