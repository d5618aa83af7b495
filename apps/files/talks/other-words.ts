import type { Talk } from "capstan/testing/talks-suite";

/** The names of languages, of folders, and other ways to ask for a new file. */
export const otherWords: readonly Talk[] = [
  [
    {
      says: "list all python files",
      calls: [["list_files", { glob: "*.py" }]],
      answers: ["example.py"],
      never: ["Nothing is there", "sample.txt"],
    },
  ],
  [{ says: "show me the text files", calls: [["list_files", { glob: "*.txt" }]], answers: ["sample.txt"] }],
  [{ says: "are there any ruby files?", calls: [["list_files", { glob: "*.rb" }]], answers: ["Nothing"] }],
  [
    {
      says: "what's in the data folder",
      calls: [["list_files", { path: "data" }]],
      answers: ["data/config.json"],
      never: ["sample.txt"],
    },
  ],
  [
    {
      says: "list the files in the data folder",
      calls: [["list_files", { path: "data" }]],
      answers: ["data/config.json"],
      never: ["sample.txt"],
    },
  ],
  [
    {
      says: "Create a file called notes.txt that says hello world",
      calls: [["write_file", { path: "notes.txt", content: "hello world" }]],
      answers: ["notes.txt"],
    },
    { says: "what's in notes.txt?", calls: [["read_file"]], answers: ["hello world"] },
  ],
  [
    {
      says: "create a.txt containing good morning",
      calls: [["write_file", { path: "a.txt", content: "good morning" }]],
      answers: ["a.txt"],
    },
  ],
  // A file of that name is elsewhere; nothing is claimed about its content.
  [
    {
      says: "What's in config.json?",
      answers: ["config.json", /no file|data\/config\.json/i],
      never: [/is empty/i],
    },
  ],
  [{ says: "Replace Welcome with Goodbye in all files", never: [/^changed/i] }],
];
