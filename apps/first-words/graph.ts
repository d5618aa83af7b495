import type { Sentence } from "./sentence.ts";

const english: readonly Omit<Sentence, "language">[] = [
  {
    kind: "vague",
    user: "what am I looking at?",
    understood: { answers: [/cats?\b/i, /\b20\b|humans?|people/i] },
  },
  {
    kind: "vague",
    user: "what kinds of things are in this graph",
    understood: { answers: ["cat", "human", "house", "toy", "food"] },
  },
  {
    kind: "aggregate",
    user: "average age of cats",
    understood: { answers: [/(?:average|mean)[^.\n]*\b5\b(?!\.\d)|\b5\b[^.\n]*(?:average|mean)/i] },
  },
  {
    kind: "aggregate",
    user: "how many people are there?",
    understood: { answers: [/\b7\b|\bseven\b/i], never: [/\bno node/i] },
  },
  { kind: "aggregate", user: "what do all the toys cost together?", understood: { answers: [/\b36\b/] } },
  {
    kind: "aggregate",
    user: "who's the youngest person?",
    understood: { answers: ["Finn"], never: ["Grace", "Ada"] },
  },
  {
    kind: "aggregate",
    user: "which toy is the most expensive?",
    understood: { answers: ["Scratching Post"], never: ["Wool Ball"] },
  },
  {
    kind: "range",
    user: "who is older than 40?",
    understood: { answers: ["Ben", "Grace"], never: ["Ada", "Chloe"] },
  },
  {
    kind: "range",
    user: "toys for less than 5 euros",
    understood: { answers: ["Wool Ball", "Toy Mouse"], never: ["Feather Wand", "Scratching Post"] },
  },
  { kind: "relation", user: "who owns Mittens?", understood: { answers: ["Ben"], never: ["Kibble", "Ada"] } },
  {
    kind: "relation",
    user: "where does Shadow live?",
    understood: { answers: ["River Flat"], never: ["Old Mill", "Tuna"] },
  },
  {
    kind: "relation",
    user: "what do the cats eat?",
    understood: { answers: ["Tuna", "Kibble"], never: ["Wool Ball"] },
  },
  {
    kind: "relation",
    user: "does Eva know Finn?",
    understood: { answers: [/\byes\b|Eva\b.*friend.*Finn|Finn\b.*friend.*Eva/is], never: [/\bnot\b/i] },
  },
  {
    kind: "relation",
    user: "who lives in the same house as Ben?",
    understood: { answers: ["Finn"], never: ["Eva"] },
  },
  {
    kind: "relation",
    user: "how do you get from Finn to Whiskers?",
    understood: {
      calls: [["runAlgorithm", { algorithm: "shortestPath" }]],
      answers: ["Finn", "Whiskers", /\b3\b|three/],
    },
  },
  { kind: "plain", user: "who has the most links?", understood: { answers: ["Shadow", /\b7\b/] } },
  {
    kind: "change",
    user: "paint the humans green",
    understood: { calls: [["styleNodes", { color: /green|#/i }]], answers: [/\b7\b|seven/i] },
  },
  {
    kind: "follow-up",
    after: ["Find all cats and make them blue"],
    user: "undo that",
    understood: { calls: [["clearStyles"]] },
  },
  {
    kind: "follow-up",
    after: ["Find all cats"],
    user: "colour the second one red",
    understood: { calls: [["styleNodes", /^(?!.*(?:cat1|cat3)).*(?:cat2|Mittens)/]] },
  },
  {
    kind: "follow-up",
    after: ["Show me the houses"],
    user: "the big ones only, at least 5 rooms",
    understood: { answers: ["Hill House", "Old Mill"], never: ["River Flat", "Maple Cottage"] },
  },
  { kind: "typo", user: "tell me about wiskers", understood: { answers: ["Whiskers", "tabby"] } },
  {
    kind: "filter",
    user: "any dogs?",
    understood: { answers: [/\bno\b|none|\b0\b/i, /dog/i] },
  },
  { kind: "impossible", user: "what's Ada's phone number?" },
  { kind: "impossible", user: "add a dog called Rex" },
  { kind: "impossible", user: "who does Grace dislike?" },
  { kind: "impossible", user: "do you think cats are better than dogs?" },
];

const others: readonly Sentence[] = [
  {
    language: "de",
    kind: "aggregate",
    user: "Wie viele Katzen gibt es?",
    understood: { answers: [/\b3\b|drei/i], never: [/\bno node/i] },
  },
  {
    language: "es",
    kind: "relation",
    user: "¿Quién es el dueño de Mittens?",
    understood: { answers: ["Ben"], never: ["Kibble"] },
  },
  {
    language: "it",
    kind: "change",
    user: "Colora i gatti di blu",
    understood: { calls: [["styleNodes", /cat/]], answers: [/\b3\b|tre|three/i] },
  },
  {
    language: "fr",
    kind: "relation",
    user: "Où habite Finn ?",
    understood: { answers: ["Hill House"], never: ["Old Mill"] },
  },
];

export const graphSentences: readonly Sentence[] = [
  ...english.map((sentence): Sentence => ({ language: "en", ...sentence })),
  ...others,
];
