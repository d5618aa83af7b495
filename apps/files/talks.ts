import type { Talk } from "capstan/testing/talks-suite";
import { otherWords } from "./talks/other-words.ts";

const config = "data/config.json";

/** What people say to the files app, and what must come of it. Written for the sample workspace. */
export const talks: readonly Talk[] = [
  [
    {
      says: "What files are in the workspace and what's in sample.txt?",
      calls: [["list_files"], ["read_file", { path: "sample.txt" }]],
      answers: ["example.py", "data/", "Welcome to the sample workspace"],
    },
    { says: "and example.py?", calls: [["read_file", { path: "example.py" }]], answers: ["def greet(name)"] },
    { says: "Thanks!", calls: [] },
  ],
  [
    {
      says: "Search for config in all files",
      calls: [["search_files", { query: "config" }]],
      answers: ["example.py:4:", "sample.txt:4:"],
    },
    {
      says: "What about greet?",
      calls: [["search_files", { query: "greet" }]],
      answers: ["example.py:10:"],
    },
    { says: "and debug", calls: [["search_files", { query: "debug" }]], answers: [`${config}:4:`] },
  ],
  [
    {
      says: "Add a docstring to greet in example.py",
      calls: [
        ["read_file", { path: "example.py" }],
        ["edit_file", { path: "example.py", edits: [{ find: "def greet(name):" }] }],
      ],
      answers: ["example.py", /added/i],
    },
    {
      says: "Show me example.py",
      calls: [["read_file", { path: "example.py" }]],
      answers: [/def greet\(name\):\s+"""/],
    },
  ],
  [
    {
      says: 'add the docstring "Greets by name." to greet in example.py',
      calls: [
        ["read_file", { path: "example.py" }],
        ["edit_file", { path: "example.py" }],
      ],
    },
    { says: "Where is 'Greets by name' used?", calls: [["search_files"]], answers: ["example.py:11:"] },
  ],
  [
    {
      says: "Read ../secret",
      calls: [["read_file", { path: "../secret" }]],
      answers: [/root|outside|leave/i],
      never: ["canary"],
    },
    {
      says: "ok, then read sample.txt",
      calls: [["read_file", { path: "sample.txt" }]],
      answers: ["Welcome"],
    },
  ],
  [
    {
      says: "open /etc/passwd",
      calls: [["read_file", { path: "/etc/passwd" }]],
      answers: [/root|outside|relative|absolute/i],
      never: ["root:x"],
    },
  ],
  [{ says: "List the files", calls: [["list_files"]], answers: ["sample.txt", "example.py", "data/"] }],
  [{ says: "what files are there?", calls: [["list_files"]], answers: ["sample.txt"] }],
  [{ says: "Which files do you have?", calls: [["list_files"]], answers: ["sample.txt"] }],
  [{ says: "How many files are there?", calls: [["list_files", {}]], answers: ["sample.txt"] }],
  [{ says: "Don't change anything, just show me example.py", calls: [["read_file"]], answers: ["greet"] }],
  [{ says: "Hi, what files are there?", calls: [["list_files"]], answers: ["sample.txt"] }],
  [{ says: "lsit the fiels", calls: [["list_files"]], answers: ["sample.txt"] }],
  [
    {
      says: "list the files in data",
      calls: [["list_files", { path: "data" }]],
      answers: [config],
    },
    { says: "read it", calls: [["read_file", { path: config }]], answers: ["greeting"] },
  ],
  [{ says: "What is in the folder data?", calls: [["list_files", { path: "data" }]], answers: [config] }],
  [{ says: "List all json files", calls: [["list_files", { glob: "*.json" }]], answers: [config] }],
  [
    {
      says: "are there any py files?",
      calls: [["list_files", { glob: "*.py" }]],
      answers: ["example.py"],
      never: ["sample.txt"],
    },
  ],
  [
    {
      says: "Are there any rb files?",
      calls: [["list_files", { glob: "*.rb" }]],
      answers: [/nothing|no /i],
    },
  ],
  [
    {
      says: "list all files in all folders",
      calls: [["list_files", { glob: "**" }]],
      answers: [config, "sample.txt"],
    },
  ],
  [{ says: `Read ${config}`, calls: [["read_file", { path: config }]], answers: ["Hello"] }],
  [{ says: "cat sample.txt please", calls: [["read_file", { path: "sample.txt" }]], answers: ["Welcome"] }],
  [{ says: "waht's in sample.txt", calls: [["read_file", { path: "sample.txt" }]], answers: ["Welcome"] }],
  [
    {
      says: "What does sample.txt say?",
      calls: [["read_file", { path: "sample.txt" }]],
      answers: ["Welcome to the sample workspace"],
    },
  ],
  [
    {
      says: "Show the first 2 lines of example.py",
      calls: [["read_file", { path: "example.py", lines: 2 }]],
      answers: ["import json"],
      never: ["greeting"],
    },
  ],
  [
    {
      says: "What is on line 10 of example.py?",
      calls: [["read_file", { path: "example.py", from: 10, lines: 1 }]],
      answers: ["def greet(name):"],
      never: ["import json"],
    },
  ],
  [{ says: "Read missing.txt", calls: [["read_file", { path: "missing.txt" }]], answers: ["missing.txt"] }],
  [
    {
      says: "Which files mention greeting?",
      calls: [["search_files", { query: "greeting" }]],
      answers: [config],
    },
  ],
  [
    {
      says: "Does any file contain a greeting?",
      calls: [["search_files", { query: "greeting" }]],
      answers: [config],
    },
  ],
  [
    {
      says: "find the word greeting in example.py",
      calls: [["search_files", { query: "greeting", glob: "example.py" }]],
      answers: ["example.py:"],
      never: [config],
    },
  ],
  [
    {
      says: "where is load_config used",
      calls: [["search_files", { query: "load_config" }]],
      answers: ["example.py:11:"],
    },
  ],
  [
    {
      says: "Search for config in py files",
      calls: [["search_files", { query: "config", glob: "*.py" }]],
      answers: ["example.py"],
      never: ["sample.txt"],
    },
  ],
  [
    {
      says: "Search for banana",
      calls: [["search_files", { query: "banana" }]],
      answers: [/no line|nothing|not/i],
    },
  ],
  [
    {
      says: "Create notes/todo.txt with Buy milk",
      calls: [["write_file", { path: "notes/todo.txt", content: "Buy milk" }]],
      answers: ["notes/todo.txt"],
    },
    {
      says: "read notes/todo.txt",
      calls: [["read_file", { path: "notes/todo.txt" }]],
      answers: ["Buy milk"],
    },
    {
      says: "replace milk with oat milk in notes/todo.txt",
      calls: [["edit_file", { path: "notes/todo.txt", edits: [{ find: "milk", replace: "oat milk" }] }]],
    },
    { says: "what's in it now?", calls: [["read_file", { path: "notes/todo.txt" }]], answers: ["oat milk"] },
  ],
  [
    {
      says: "Please create a file called hello.txt containing Hello World",
      calls: [["write_file", { path: "hello.txt", content: "Hello World" }]],
      answers: ["hello.txt"],
    },
    { says: "what does it say?", calls: [["read_file", { path: "hello.txt" }]], answers: ["Hello World"] },
  ],
  [
    { says: "Would you create a.txt with hi", calls: [["write_file", { path: "a.txt", content: "hi" }]] },
    { says: "and b.txt with hello", calls: [["write_file", { path: "b.txt", content: "hello" }]] },
    { says: "read a.txt", calls: [["read_file"]], answers: ["hi"], never: ["hello"] },
  ],
  [{ says: "create a file", calls: [], answers: ["?"] }],
  [
    {
      says: "Search for import in example.py",
      calls: [["search_files", { query: "import", glob: "example.py" }]],
      answers: ["example.py:1:"],
    },
  ],
  [{ says: "what does the file data/config.json contain?", calls: [["read_file", { path: config }]] }],
  [{ says: "Should I write hello to sample.txt?", calls: [], never: [/wrote|created|changed/i] }],
  [
    {
      says: 'Write "print(1)" to one.py and list the files',
      calls: [["write_file", { path: "one.py", content: "print(1)" }], ["list_files"]],
      answers: ["one.py"],
    },
  ],
  [
    {
      says: `Change Hello to Moin in ${config}`,
      calls: [["edit_file", { path: config, edits: [{ find: "Hello", replace: "Moin" }] }]],
      answers: [config],
    },
    {
      says: `what's in ${config}`,
      calls: [["read_file", { path: config }]],
      answers: ["Moin"],
      never: ["Hello"],
    },
  ],
  [
    {
      says: "rename greet to welcome in example.py",
      calls: [
        ["edit_file", { path: "example.py", edits: [{ find: "greet", replace: "welcome", all: true }] }],
      ],
    },
  ],
  [
    {
      says: "Replace banana with apple in sample.txt",
      calls: [["edit_file", { path: "sample.txt" }]],
      answers: [/not in|nothing was changed/i],
    },
  ],
  [
    {
      says: "Write hello to .env",
      calls: [["write_file", { path: ".env", content: "hello" }]],
      answers: [/protected/i],
    },
  ],
  [{ says: "Hello!", calls: [] }],
  [{ says: "What can you do?", calls: [], answers: ["file"] }],
  [{ says: "What is the weather in Oslo?", calls: [], answers: [/cannot|can't|no tool/i], never: ["sunny"] }],
  [{ says: "Run example.py", calls: [], answers: [/cannot|can't|no tool/i] }],
  [{ says: "Delete sample.txt", calls: [], answers: [/cannot|can't|no tool/i] }],
  [{ says: "Send sample.txt to ada@example.org", calls: [], answers: [/cannot|can't|no tool/i] }],
  ...otherWords,
];
