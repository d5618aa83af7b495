import type { Sentence } from "./sentence.ts";

const english: readonly Omit<Sentence, "language">[] = [
  { kind: "vague", user: "what's in here?", understood: { answers: ["sample.txt", "example.py"] } },
  { kind: "vague", user: "help", understood: { answers: [/\bfiles?\b/i, /read|search|list|change/i] } },
  {
    kind: "chat",
    user: "hello there",
    understood: { answers: [/\bfiles?\b|how can I help|what can I do/i] },
  },
  { kind: "typo", user: "open smaple.txt", understood: { answers: ["Welcome to the sample workspace"] } },
  { kind: "typo", user: "shwo me the confg file", understood: { answers: ["greeting", "debug", "false"] } },
  {
    kind: "aggregate",
    user: "count the files for me",
    understood: { answers: [/\b(?:3|three) files|\b(?:2|two) files and (?:1|one|a) folder/i] },
  },
  {
    kind: "aggregate",
    user: "how long is example.py?",
    understood: { answers: [/\b16 lines|\b325 (?:bytes|char)/i] },
  },
  {
    kind: "plain",
    user: "what does the python script do?",
    understood: { answers: [/greet/i, /example\.py/] },
  },
  {
    kind: "plain",
    user: "which functions are defined in example.py?",
    understood: { answers: ["load_config", "greet"], never: ["sample workspace"] },
  },
  { kind: "plain", user: "where is debug set?", understood: { answers: ["config.json", "debug"] } },
  {
    kind: "plain",
    user: "is debug mode on?",
    understood: { answers: [/debug[^.\n]{0,30}(?:false|off|disabled)|not (?:on|enabled)/i] },
  },
  {
    kind: "change",
    user: "turn debug on",
    understood: { calls: [["edit_file", { path: "data/config.json", edits: /debug.*true|false.*true/ }]] },
  },
  {
    kind: "change",
    user: "change the greeting from Hello to Hi",
    understood: { calls: [["edit_file", { path: "data/config.json", edits: /Hello.*Hi/ }]] },
  },
  {
    kind: "change",
    user: "make a new file called todo.txt that says buy milk",
    understood: {
      calls: [["write_file", { path: "todo.txt", content: /^"buy milk(?:\\n)?"$/i }]],
      answers: ["todo.txt"],
    },
  },
  {
    kind: "change",
    user: "in example.py say everyone instead of world",
    understood: { calls: [["edit_file", { path: "example.py", edits: /world.*everyone/ }]] },
  },
  {
    kind: "follow-up",
    after: ["What's in sample.txt?"],
    user: "and the python one?",
    understood: { answers: ["def greet"] },
  },
  { kind: "impossible", after: ["What's in sample.txt?"], user: "in German please" },
  {
    kind: "follow-up",
    after: ["What files are there?"],
    user: "open the last one",
    understood: { answers: ["Welcome to the sample workspace"] },
  },
  {
    kind: "range",
    user: "just the first two lines of sample.txt",
    understood: { answers: ["Welcome to the sample workspace"], never: ["Change what you like"] },
  },
  {
    kind: "range",
    user: "lines 10 to 12 of example.py",
    understood: { answers: ["def greet(name)"], never: ["import json", "__main__"] },
  },
  {
    kind: "filter",
    user: "only the python files please",
    understood: { answers: ["example.py"], never: ["sample.txt"] },
  },
  { kind: "impossible", user: "run example.py and tell me what it prints" },
  { kind: "impossible", user: "show me /etc/passwd", allows: ["decline"] },
  { kind: "impossible", user: "who changed these files last?" },
  { kind: "impossible", user: "what's the capital of Peru?" },
  { kind: "impossible", user: "push everything to github" },
];

const others: readonly Sentence[] = [
  {
    language: "de",
    kind: "plain",
    user: "Welche Dateien gibt es hier?",
    understood: { answers: ["sample.txt", "example.py"] },
  },
  {
    language: "fr",
    kind: "plain",
    user: "Que contient sample.txt ?",
    understood: { answers: ["Welcome to the sample workspace"] },
  },
  {
    language: "it",
    kind: "plain",
    user: "Cerca la parola greeting in tutti i file",
    understood: { answers: ["config.json", "example.py"] },
  },
  {
    language: "pt",
    kind: "change",
    user: "Cria um ficheiro notas.txt com o texto olá",
    understood: { calls: [["write_file", { path: "notas.txt", content: /^"olá(?:\\n)?"$/i }]] },
  },
];

export const filesSentences: readonly Sentence[] = [
  ...english.map((sentence): Sentence => ({ language: "en", ...sentence })),
  ...others,
];
