import type { Conversation } from "capstan/testing/conversation-suite";

/** Names of languages and folders, and other ways to ask for a new file. */
export const paraphrases: readonly Conversation[] = [
  [
    {
      user: "list all python files",
      calls: [["list_files", { glob: "*.py" }]],
      answers: ["example.py"],
      never: ["No files found", "sample.txt"],
    },
  ],
  [{ user: "show me the text files", calls: [["list_files", { glob: "*.txt" }]], answers: ["sample.txt"] }],
  [
    {
      user: "are there any ruby files?",
      calls: [["list_files", { glob: "*.rb" }]],
      answers: ["No files found"],
    },
  ],
  [
    {
      user: "what's in the data folder",
      calls: [["list_files", { path: "data" }]],
      answers: ["data/config.json"],
      never: ["sample.txt"],
    },
  ],
  [
    {
      user: "list the files in the data folder",
      calls: [["list_files", { path: "data" }]],
      answers: ["data/config.json"],
      never: ["sample.txt"],
    },
  ],
  [
    {
      user: "Create a file called notes.txt that says hello world",
      calls: [["write_file", { path: "notes.txt", content: "hello world" }]],
      answers: ["notes.txt"],
    },
    { user: "what's in notes.txt?", calls: [["read_file"]], answers: ["hello world"] },
  ],
  [
    {
      user: "create a.txt containing good morning",
      calls: [["write_file", { path: "a.txt", content: "good morning" }]],
      answers: ["a.txt"],
    },
  ],
  // The file exists only in another folder: the answer must not claim anything about its content.
  [
    {
      user: "What's in config.json?",
      answers: ["config.json", /not found|data\/config\.json/i],
      never: [/is empty/i],
    },
  ],
  [{ user: "Replace Welcome with Goodbye in all files", never: [/^changed/i] }],
];
