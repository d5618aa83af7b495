// Notes in one JSON file: [{ id, text }]. Every change writes a new file and renames it over the old one.
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export type Note = { readonly id: number; readonly text: string };

export interface NoteFile {
  list(): readonly Note[];
  add(text: string): Note;
  /** Returns the removed note, or undefined if it does not exist. */
  remove(id: number): Note | undefined;
}

const samples: readonly Note[] = [
  { id: 1, text: "Sample: pack an umbrella and a torch for the trip to Bergen." },
  { id: 2, text: "Sample: the meeting about the garden is on Friday at ten." },
];

export function openNoteFile(file: string): NoteFile {
  const list = (): readonly Note[] => {
    try {
      return JSON.parse(readFileSync(file, "utf8"));
    } catch (error) {
      // Never overwrite a file that exists but cannot be read.
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return samples;
      throw error;
    }
  };
  const save = (notes: readonly Note[]): void => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // A unique name, because another process may write at the same time.
    const temporaryFile = `${file}.${randomUUID()}`;
    writeFileSync(temporaryFile, `${JSON.stringify(notes, undefined, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(temporaryFile, file);
  };
  return {
    list,
    add(text) {
      const notes = list();
      const note = { id: Math.max(0, ...notes.map(({ id }) => id)) + 1, text };
      save([...notes, note]);
      return note;
    },
    remove(id) {
      const notes = list();
      const note = notes.find((candidate) => candidate.id === id);
      if (note) save(notes.filter((candidate) => candidate !== note));
      return note;
    },
  };
}

const stopWords = new Set("a an the my our your i me is are of about for to in on at and or".split(" "));

/** Finds the notes with the most words of the query, at least half, ignoring case, stop words and plurals. */
export function searchNotes(notes: readonly Note[], query: string): readonly Note[] {
  const queryWords = query
    .toLowerCase()
    .split(/[\s?!.,]+/)
    .filter(Boolean);
  const contentWords = queryWords.filter((word) => !stopWords.has(word));
  const words = (contentWords.length > 0 ? contentWords : queryWords).map((word) =>
    word.replace(/(?<=\w{3})s$/, ""),
  );
  const countWords = ({ text }: Note) => words.filter((word) => text.toLowerCase().includes(word)).length;
  const most = Math.max(0, ...notes.map(countWords));
  return most * 2 < words.length || most === 0 ? [] : notes.filter((note) => countWords(note) === most);
}
