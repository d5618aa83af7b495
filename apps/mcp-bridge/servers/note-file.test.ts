import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { noteFile, search } from "./note-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-notes-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the file of notes", () => {
  it("begins with samples, and keeps what is added and removed", () => {
    const file = join(folder, "deep", "notes.json");
    expect(noteFile(file).all()).toHaveLength(2);
    expect(noteFile(file).add("Buy milk.")).toEqual({ id: 3, text: "Buy milk." });
    expect(noteFile(file).remove(1)).toMatchObject({ id: 1 });
    expect(noteFile(file).remove(1)).toBeUndefined();
    expect(
      noteFile(file)
        .all()
        .map(({ id }) => id),
    ).toEqual([2, 3]);
  });

  it("is not written over when it cannot be read", () => {
    const file = join(folder, "notes.json");
    writeFileSync(file, "half a");
    expect(() => noteFile(file).add("More.")).toThrow(/JSON/);
  });

  it("is for its owner alone, and nothing of another process that writes gets into it", () => {
    const file = join(folder, "data", "notes.json");
    noteFile(file).add("Mine.");
    expect(statSync(join(folder, "data")).mode & 0o777).toBe(0o700);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    mkdirSync(`${file}.new`);
    expect(noteFile(file).add("Mine too.").id).toBe(4);
    expect(readdirSync(join(folder, "data")).sort()).toEqual(["notes.json", "notes.json.new"]);
  });

  it("is searched by all words, in any case of letters", () => {
    const notes = noteFile(join(folder, "notes.json")).all();
    expect(search(notes, "BERGEN umbrella").map(({ id }) => id)).toEqual([1]);
    expect(search(notes, "bergen garden")).toEqual([]);
  });

  it("is searched by what is asked for, not by the little words around it", () => {
    const notes = [{ id: 7, text: "The spare key is under the pot." }];
    for (const query of ["the spare key", "my spare keys?", "Key"])
      expect(search(notes, query)).toEqual(notes);
    expect(search(notes, "spare wheel")).toEqual([]);
  });
});
