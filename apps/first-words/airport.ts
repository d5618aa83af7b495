import type { Sentence } from "./sentence.ts";

const restaurant =
  /Pier Nine|Anchor Burgers|Sakura|La Scala|Curry Harbour|Casa Verde|Trattoria|Green Bowl|Captain's Table/;

const english: readonly Omit<Sentence, "language">[] = [
  { kind: "vague", user: "I'm hungry", understood: { answers: [restaurant, /Concourse|Terminal/] } },
  {
    kind: "vague",
    user: "what can I do here?",
    understood: { answers: [/place|shop|restaurant|gate/i, /direction|route|way/i] },
  },
  {
    kind: "vague",
    user: "my phone is about to die",
    understood: { answers: ["Charging Station", /Concourse [A-D]/] },
  },
  {
    kind: "vague",
    user: "i have a headache, where can i get something for it",
    understood: { answers: ["Harbor Pharmacy", "Terminal 2"] },
  },
  {
    kind: "plain",
    user: "where can i get a burger",
    understood: { answers: ["Anchor Burgers", "Concourse A"] },
  },
  {
    kind: "typo",
    user: "is there a restrom close to B40?",
    understood: { answers: ["Restroom Concourse B North"] },
  },
  {
    kind: "typo",
    user: "wheres the pharmcy",
    understood: { answers: ["Harbor Pharmacy", "Terminal 2"] },
  },
  {
    kind: "filter",
    user: "Which restaurants are vegetarian?",
    understood: {
      answers: ["Curry Harbour", "Casa Verde", "Green Bowl"],
      never: ["Anchor Burgers", "Sakura"],
    },
  },
  {
    kind: "filter",
    user: "somewhere for coffee in terminal 3 before security",
    understood: { answers: ["Quayside Bakery"], never: ["Mast & Bean", /Terminal [12]/] },
  },
  {
    kind: "follow-up",
    after: ["Where can I eat?"],
    user: "only the Asian ones",
    understood: {
      answers: ["Pier Nine Noodles"],
      never: ["Anchor Burgers", "La Scala", "Trattoria", "Casa Verde"],
    },
  },
  {
    kind: "aggregate",
    user: "how many gates are in concourse B altogether?",
    understood: { answers: [/\b22 (?:gates|places)|gates?\D{0,20}\b22\b/i] },
  },
  {
    kind: "aggregate",
    user: "number of terminals?",
    understood: {
      answers: [/\b(?:3|three) (?:terminals|buildings)|Terminal 1\b.*Terminal 2\b.*Terminal 3/is],
      never: ["Gate A1"],
    },
  },
  {
    kind: "plain",
    user: "I'm at A3 and my flight leaves from A17, which way do I go?",
    understood: {
      calls: [["showDirections"]],
      answers: ["A3", "A17", /\d+ ?m(?:in|etres?)?\b/],
    },
  },
  {
    kind: "follow-up",
    after: ["Directions from A3 to A20"],
    user: "and with a wheelchair?",
    understood: { calls: [["showDirections", { accessible: true }]], answers: ["A20"] },
  },
  {
    kind: "range",
    user: "what is within 50 metres of gate B34?",
    understood: { calls: [["searchNearby", { withinMetres: 50 }]], answers: ["Sakura Sushi"] },
  },
  {
    kind: "plain",
    user: "which security line is fastest right now",
    understood: { answers: ["Terminal 2", /\b18\b/, "simulated"] },
  },
  {
    kind: "plain",
    user: "I need to buy a toy for my niece",
    understood: { answers: ["Compass Toys", "Concourse B"] },
  },
  {
    kind: "follow-up",
    after: ["Find sushi"],
    user: "save that one for later",
    understood: { calls: [["bookmark"]], answers: ["Sakura Sushi"] },
  },
  {
    kind: "follow-up",
    after: ["Find sushi", "bookmark it"],
    user: "what have I saved so far?",
    understood: { calls: [["getBookmarks"]], answers: ["Sakura Sushi"] },
  },
  {
    kind: "follow-up",
    after: ["Where is gate 15?"],
    user: "the one in concourse D",
    understood: { answers: ["D15", "Concourse D"], never: ["A15"] },
  },
  {
    kind: "follow-up",
    after: ["Where can I get pizza?"],
    user: "and where's the second one?",
    understood: { answers: ["Trattoria Molo", "Concourse D"], never: ["La Scala"] },
  },
  { kind: "impossible", user: "will it rain in Lisbon tomorrow?" },
  { kind: "impossible", user: "is flight LH123 on time?" },
  { kind: "impossible", user: "book me a taxi to the city centre" },
  { kind: "impossible", user: "is there a chapel or a prayer room?" },
  { kind: "impossible", user: "who should I vote for?", allows: ["decline"] },
];

const others: readonly Sentence[] = [
  {
    language: "de",
    kind: "plain",
    user: "Wo ist die nächste Toilette bei Gate D7?",
    understood: { answers: ["Concourse D North"] },
  },
  {
    language: "fr",
    kind: "plain",
    user: "Où puis-je manger une pizza ?",
    understood: { answers: [/La Scala Pizza|Trattoria Molo/] },
  },
  {
    language: "es",
    kind: "plain",
    user: "¿Cómo llego de la puerta A3 a la puerta A17?",
    understood: { calls: [["showDirections"]], answers: ["A3", "A17"] },
  },
  {
    language: "pt",
    kind: "plain",
    user: "Onde fica a farmácia?",
    understood: { answers: ["Harbor Pharmacy", "Terminal 2"] },
  },
];

export const airportSentences: readonly Sentence[] = [
  ...english.map((sentence): Sentence => ({ language: "en", ...sentence })),
  ...others,
];
