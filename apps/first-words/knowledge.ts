import type { Sentence } from "./sentence.ts";

const cited = /\[\d+\]/;

const english: readonly Omit<Sentence, "language">[] = [
  {
    kind: "vague",
    user: "what can I ask you?",
    understood: { answers: [/documentation|docs|package/i, /mail/i] },
  },
  {
    kind: "chat",
    user: "good morning!",
    understood: { answers: [/good morning|hello|\bhi\b/i], never: [cited] },
  },
  { kind: "plain", user: "what is zod?", understood: { answers: ["validation", cited] } },
  { kind: "plain", user: "what does the word hono mean", understood: { answers: ["flame", cited] } },
  {
    kind: "plain",
    user: "how do i set up a new hono project",
    understood: { answers: ["npm create hono", cited] },
  },
  {
    kind: "plain",
    user: "zod: how can I parse without an exception?",
    understood: { answers: ["safeParse", cited] },
  },
  { kind: "plain", user: "which port does ollama listen on", understood: { answers: ["11434", cited] } },
  { kind: "plain", user: "I want to get rid of old sessions", understood: { answers: ["prune", cited] } },
  {
    kind: "plain",
    user: "does a run survive when the process crashes?",
    understood: { answers: [/durable store|another process (?:can )?takes? over/i, cited] },
  },
  { kind: "relation", user: "who made fastify?", understood: { answers: ["Matteo Collina", cited] } },
  { kind: "relation", user: "who is behind vitest", understood: { answers: ["Anthony Fu", cited] } },
  {
    kind: "follow-up",
    after: ["Who wrote vitest?"],
    user: "what else is he the author of?",
    understood: { answers: ["package-manager-detector"] },
  },
  {
    kind: "follow-up",
    after: ["Who maintains hono?"],
    user: "and zod?",
    understood: { answers: ["Colin McDonnell"], never: ["Yusuke"] },
  },
  {
    kind: "typo",
    user: "diffrence between zod and vallibot",
    understood: { answers: [/zod/i, /valibot/i, cited] },
  },
  { kind: "vague", user: "any news on the budget?", understood: { answers: ["18,400", cited] } },
  {
    kind: "plain",
    user: "how much was the workshop last year?",
    understood: { answers: ["16,000", cited] },
  },
  {
    kind: "plain",
    user: "which train did Priya pick?",
    understood: { answers: ["10:40", cited] },
  },
  {
    kind: "follow-up",
    after: ["Summarize recent emails about budget"],
    user: "only the ones from Tomas",
    understood: { answers: ["Tomas Brandt"], never: ["Thank you all", "Finance will not sign"] },
  },
  {
    kind: "follow-up",
    after: ["Was the workshop budget approved?"],
    user: "why was it too high before?",
    understood: { answers: [/9,000|21,000/] },
  },
  {
    kind: "aggregate",
    user: "how many mails did Ines send me?",
    understood: { answers: [/\b(?:3|three) (?:e-?)?mails|\b3 of 3\b/i] },
  },
  {
    kind: "range",
    user: "mails since the 10th of June",
    understood: { answers: ["approved", "boathouse"], never: ["morning train", "Three speakers"] },
  },
  { kind: "impossible", user: "what's the weather like in Paris?" },
  { kind: "impossible", user: "who won the world cup in 1998?" },
  { kind: "impossible", user: "how do I bake sourdough bread?" },
  { kind: "impossible", user: "what does the flumox package do?" },
  { kind: "impossible", user: "what's my salary?" },
];

const others: readonly Sentence[] = [
  {
    language: "de",
    kind: "plain",
    user: "Wie prüfe ich Daten mit Zod?",
    understood: { answers: [/parse/, cited] },
  },
  {
    language: "fr",
    kind: "relation",
    user: "Qui a écrit hono ?",
    understood: { answers: ["Yusuke Wada", cited] },
  },
  {
    language: "es",
    kind: "plain",
    user: "¿De cuánto es el presupuesto del taller?",
    understood: { answers: ["18,400", cited] },
  },
  {
    language: "pt",
    kind: "relation",
    user: "Quem escreveu o fastify?",
    understood: { answers: ["Matteo Collina", cited] },
  },
];

export const knowledgeSentences: readonly Sentence[] = [
  ...english.map((sentence): Sentence => ({ language: "en", ...sentence })),
  ...others,
];
