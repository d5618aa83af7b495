// Notes in one JSON file: [{ id, text }]. It is written whole, to a new file that then takes the place of the old one.
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export type Note = { readonly id: number; readonly text: string };

export interface NoteFile {
  all(): readonly Note[];
  add(text: string): Note;
  /** Undefined when there is no such note. */
  remove(id: number): Note | undefined;
}

const samples: readonly Note[] = [
  { id: 1, text: "Sample: pack an umbrella and a torch for the trip to Bergen." },
  { id: 2, text: "Sample: the meeting about the garden is on Friday at ten." },
];

export function noteFile(file: string): NoteFile {
  const all = (): readonly Note[] => {
    try {
      return JSON.parse(readFileSync(file, "utf8"));
    } catch (error) {
      // A file that is there and cannot be read is not to be written over.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return samples;
      throw error;
    }
  };
  const save = (notes: readonly Note[]): void => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // Under a name of its own: another process may write at the same time.
    const beside = `${file}.${randomUUID()}`;
    writeFileSync(beside, `${JSON.stringify(notes, undefined, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(beside, file);
  };
  return {
    all,
    add(text) {
      const notes = all();
      const note = { id: Math.max(0, ...notes.map(({ id }) => id)) + 1, text };
      save([...notes, note]);
      return note;
    },
    remove(id) {
      const notes = all();
      const note = notes.find((one) => one.id === id);
      if (note) save(notes.filter((one) => one !== note));
      return note;
    },
  };
}

const little = new Set("a an the my our your is are of about for to in on at".split(" "));

/** The notes that hold all the words, in any case of letters; little words and plurals are passed over. */
export function search(notes: readonly Note[], query: string): readonly Note[] {
  const said = query
    .toLowerCase()
    .split(/[\s?!.,]+/)
    .filter(Boolean);
  const telling = said.filter((word) => !little.has(word));
  const words = (telling.length > 0 ? telling : said).map((word) => word.replace(/(?<=\w{3})s$/, ""));
  return notes.filter(({ text }) => words.every((word) => text.toLowerCase().includes(word)));
}
