import type { Conversation } from "capstan/testing/conversation-suite";
import { paraphrases } from "./conversations/paraphrases.ts";

const config = "data/config.json";

/** Conversations with the files app and the expected calls and answers, written for the sample workspace. */
export const conversations: readonly Conversation[] = [
  [
    {
      user: "What files are in the workspace and what's in sample.txt?",
      calls: [["list_files"], ["read_file", { path: "sample.txt" }]],
      answers: ["example.py", "data/", "Welcome to the sample workspace"],
    },
    { user: "and example.py?", calls: [["read_file", { path: "example.py" }]], answers: ["def greet(name)"] },
    { user: "Thanks!", calls: [] },
  ],
  [
    {
      user: "Search for config in all files",
      calls: [["search_files", { query: "config" }]],
      answers: ["example.py:4:", "sample.txt:4:"],
    },
    {
      user: "What about greet?",
      calls: [["search_files", { query: "greet" }]],
      answers: ["example.py:10:"],
    },
    { user: "and debug", calls: [["search_files", { query: "debug" }]], answers: [`${config}:4:`] },
  ],
  [
    {
      user: "Add a docstring to greet in example.py",
      calls: [
        ["read_file", { path: "example.py" }],
        ["edit_file", { path: "example.py", edits: [{ find: "def greet(name):" }] }],
      ],
      answers: ["example.py", /added/i],
    },
    {
      user: "Show me example.py",
      calls: [["read_file", { path: "example.py" }]],
      answers: [/def greet\(name\):\s+"""/],
    },
  ],
  [
    {
      user: 'add the docstring "Greets by name." to greet in example.py',
      calls: [
        ["read_file", { path: "example.py" }],
        ["edit_file", { path: "example.py" }],
      ],
    },
    { user: "Where is 'Greets by name' used?", calls: [["search_files"]], answers: ["example.py:11:"] },
  ],
  [
    {
      user: "Read ../secret",
      calls: [["read_file", { path: "../secret" }]],
      answers: [/root|outside|leave/i],
      never: ["canary"],
    },
    {
      user: "ok, then read sample.txt",
      calls: [["read_file", { path: "sample.txt" }]],
      answers: ["Welcome"],
    },
  ],
  [
    {
      user: "open /etc/passwd",
      calls: [["read_file", { path: "/etc/passwd" }]],
      answers: [/root|outside|relative|absolute/i],
      never: ["root:x"],
    },
  ],
  [{ user: "List the files", calls: [["list_files"]], answers: ["sample.txt", "example.py", "data/"] }],
  [{ user: "what files are there?", calls: [["list_files"]], answers: ["sample.txt"] }],
  [{ user: "Which files do you have?", calls: [["list_files"]], answers: ["sample.txt"] }],
  [{ user: "How many files are there?", calls: [["list_files", {}]], answers: ["sample.txt"] }],
  [{ user: "Don't change anything, just show me example.py", calls: [["read_file"]], answers: ["greet"] }],
  [{ user: "Hi, what files are there?", calls: [["list_files"]], answers: ["sample.txt"] }],
  [{ user: "lsit the fiels", calls: [["list_files"]], answers: ["sample.txt"] }],
  [
    {
      user: "list the files in data",
      calls: [["list_files", { path: "data" }]],
      answers: [config],
    },
    { user: "read it", calls: [["read_file", { path: config }]], answers: ["greeting"] },
  ],
  [{ user: "What is in the folder data?", calls: [["list_files", { path: "data" }]], answers: [config] }],
  [{ user: "List all json files", calls: [["list_files", { glob: "*.json" }]], answers: [config] }],
  [
    {
      user: "are there any py files?",
      calls: [["list_files", { glob: "*.py" }]],
      answers: ["example.py"],
      never: ["sample.txt"],
    },
  ],
  [
    {
      user: "Are there any rb files?",
      calls: [["list_files", { glob: "*.rb" }]],
      answers: [/nothing|no /i],
    },
  ],
  [
    {
      user: "list all files in all folders",
      calls: [["list_files", { glob: "**" }]],
      answers: [config, "sample.txt"],
    },
  ],
  [{ user: `Read ${config}`, calls: [["read_file", { path: config }]], answers: ["Hello"] }],
  [{ user: "cat sample.txt please", calls: [["read_file", { path: "sample.txt" }]], answers: ["Welcome"] }],
  [{ user: "waht's in sample.txt", calls: [["read_file", { path: "sample.txt" }]], answers: ["Welcome"] }],
  [
    {
      user: "What does sample.txt say?",
      calls: [["read_file", { path: "sample.txt" }]],
      answers: ["Welcome to the sample workspace"],
    },
  ],
  [
    {
      user: "Show the first 2 lines of example.py",
      calls: [["read_file", { path: "example.py", lines: 2 }]],
      answers: ["import json"],
      never: ["greeting"],
    },
  ],
  [
    {
      user: "What is on line 10 of example.py?",
      calls: [["read_file", { path: "example.py", from: 10, lines: 1 }]],
      answers: ["def greet(name):"],
      never: ["import json"],
    },
  ],
  [
    {
      user: "Read missing.txt",
      calls: [["read_file", { path: "missing.txt" }], ["list_files"]],
      answers: ["missing.txt"],
      never: [config, "list_files"],
    },
  ],
  [
    {
      user: "Which files mention greeting?",
      calls: [["search_files", { query: "greeting" }]],
      answers: [config],
    },
  ],
  [
    {
      user: "Does any file contain a greeting?",
      calls: [["search_files", { query: "greeting" }]],
      answers: [config],
    },
  ],
  [
    {
      user: "find the word greeting in example.py",
      calls: [["search_files", { query: "greeting", glob: "example.py" }]],
      answers: ["example.py:"],
      never: [config],
    },
  ],
  [
    {
      user: "where is load_config used",
      calls: [["search_files", { query: "load_config" }]],
      answers: ["example.py:11:"],
    },
  ],
  [
    {
      user: "Search for config in py files",
      calls: [["search_files", { query: "config", glob: "*.py" }]],
      answers: ["example.py"],
      never: ["sample.txt"],
    },
  ],
  [
    {
      user: "Search for banana",
      calls: [["search_files", { query: "banana" }]],
      answers: [/no matches/i],
    },
  ],
  [
    {
      user: "Create notes/todo.txt with Buy milk",
      calls: [["write_file", { path: "notes/todo.txt", content: "Buy milk" }]],
      answers: ["notes/todo.txt"],
    },
    {
      user: "read notes/todo.txt",
      calls: [["read_file", { path: "notes/todo.txt" }]],
      answers: ["Buy milk"],
    },
    {
      user: "replace milk with oat milk in notes/todo.txt",
      calls: [["edit_file", { path: "notes/todo.txt", edits: [{ find: "milk", replace: "oat milk" }] }]],
    },
    { user: "what's in it now?", calls: [["read_file", { path: "notes/todo.txt" }]], answers: ["oat milk"] },
  ],
  [
    {
      user: "Please create a file called hello.txt containing Hello World",
      calls: [["write_file", { path: "hello.txt", content: "Hello World" }]],
      answers: ["hello.txt"],
    },
    { user: "what does it say?", calls: [["read_file", { path: "hello.txt" }]], answers: ["Hello World"] },
  ],
  [
    { user: "Would you create a.txt with hi", calls: [["write_file", { path: "a.txt", content: "hi" }]] },
    { user: "and b.txt with hello", calls: [["write_file", { path: "b.txt", content: "hello" }]] },
    { user: "read a.txt", calls: [["read_file"]], answers: ["hi"], never: ["hello"] },
  ],
  [{ user: "create a file", calls: [], answers: ["?"] }],
  [
    {
      user: "Search for import in example.py",
      calls: [["search_files", { query: "import", glob: "example.py" }]],
      answers: ["example.py:1:"],
    },
  ],
  [{ user: "what does the file data/config.json contain?", calls: [["read_file", { path: config }]] }],
  [{ user: "Should I write hello to sample.txt?", calls: [], never: [/wrote|created|changed/i] }],
  [
    {
      user: 'Write "print(1)" to one.py and list the files',
      calls: [["write_file", { path: "one.py", content: "print(1)" }], ["list_files"]],
      answers: ["one.py"],
    },
  ],
  [
    {
      user: `Change Hello to Moin in ${config}`,
      calls: [["edit_file", { path: config, edits: [{ find: "Hello", replace: "Moin" }] }]],
      answers: [config],
    },
    {
      user: `what's in ${config}`,
      calls: [["read_file", { path: config }]],
      answers: ["Moin"],
      never: ["Hello"],
    },
  ],
  [
    { user: "create draft.txt with Some words", calls: [["write_file", { path: "draft.txt" }]] },
    { user: "Change words to lines in draft.txt", calls: [["edit_file", { path: "draft.txt" }]] },
    { user: "undo the last change", calls: [["undo_change", {}]], answers: [/restored.*draft\.txt/i] },
    { user: "read draft.txt", calls: [["read_file"]], answers: ["Some words"] },
    {
      user: "Undo the change to draft.txt",
      calls: [["undo_change", { path: "draft.txt" }]],
      answers: [/removed.*draft\.txt/i],
    },
    { user: "undo the last change", calls: [["undo_change"]], answers: [/no change .*can be undone/i] },
  ],
  [
    {
      user: "rename greet to welcome in example.py",
      calls: [
        ["edit_file", { path: "example.py", edits: [{ find: "greet", replace: "welcome", all: true }] }],
      ],
    },
  ],
  [
    {
      user: "Replace banana with apple in sample.txt",
      calls: [["edit_file", { path: "sample.txt" }]],
      answers: [/not in|nothing was changed/i],
    },
  ],
  [
    {
      user: "Write hello to .env",
      calls: [["write_file", { path: ".env", content: "hello" }]],
      answers: [/protected/i],
    },
  ],
  [{ user: "Hello!", calls: [] }],
  [{ user: "What can you do?", calls: [], answers: ["file"] }],
  [{ user: "What is the weather in Oslo?", calls: [], answers: [/cannot|can't|no tool/i], never: ["sunny"] }],
  [{ user: "Run example.py", calls: [], answers: [/cannot|can't|no tool/i] }],
  [{ user: "Delete sample.txt", calls: [], answers: [/cannot|can't|no tool/i] }],
  [{ user: "Send sample.txt to ada@example.org", calls: [], answers: [/cannot|can't|no tool/i] }],
  ...paraphrases,
];
