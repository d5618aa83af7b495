import type { Sentence } from "./sentence.ts";

const english: readonly Omit<Sentence, "language">[] = [
  { kind: "chat", user: "hi", understood: { answers: [/\bhi\b|hello|how can I help|what can I do/i] } },
  {
    kind: "vague",
    user: "what are you good for?",
    understood: { answers: [/unit|convert/i, /note/i] },
  },
  { kind: "plain", user: "I weigh 70 kilos, what's that in pounds?", understood: { answers: [/154\.3/] } },
  { kind: "plain", user: "what's 100 F in celsius", understood: { answers: [/37\.[78]|\b38\b/] } },
  { kind: "plain", user: "200 grams in ounces pls", understood: { answers: [/7\.05/] } },
  { kind: "plain", user: "how many seconds does a day have", understood: { answers: [/86[, ]?400/] } },
  { kind: "vague", user: "how hot is 350 fahrenheit?", understood: { answers: [/176\.[67]|\b177\b/] } },
  { kind: "plain", user: "5 feet 3 inches in cm", understood: { answers: [/\b160\b/] } },
  {
    kind: "range",
    user: "is 10 km more than 6 miles?",
    understood: { answers: [/\byes\b|6\.21|9\.65/i], never: [/^no\b/i] },
  },
  {
    kind: "vague",
    user: "convert 3 miles",
    understood: { answers: [/(?:which|what) unit|to (?:what|which)\b/i] },
  },
  {
    kind: "typo",
    user: "waht time is it in Tokio",
    understood: { calls: [["mcp_units_time_in", { place: /tokyo/i }]], answers: ["Tokyo", /\d\d:\d\d/] },
  },
  {
    kind: "plain",
    user: "it's 9am in Tokyo, what's the time in Singapore then?",
    understood: { answers: [/\b0?8:00/, "Singapore"] },
  },
  {
    kind: "follow-up",
    after: ["When it is 09:00 in Tokyo, what time is it in Singapore?"],
    user: "and in Dubai?",
    understood: { answers: [/\b0?4:00/, "Dubai"] },
  },
  {
    kind: "follow-up",
    after: ["How many miles are 42 km?"],
    user: "and 10?",
    understood: { answers: [/6\.21/] },
  },
  {
    kind: "follow-up",
    after: ["How many miles are 42 km?"],
    user: "in yards please",
    understood: { answers: [/45[, ]?931/] },
  },
  {
    kind: "aggregate",
    user: "how many notes have I got?",
    understood: { answers: [/\b(?:2|two) notes\b/i] },
  },
  { kind: "plain", user: "when is the garden meeting?", understood: { answers: ["Friday"] } },
  { kind: "plain", user: "what should I pack for Bergen?", understood: { answers: ["umbrella", "torch"] } },
  {
    kind: "change",
    user: "remind me to call mum",
    understood: { calls: [["mcp_notes_add_note", { text: /call mum/i }]] },
  },
  {
    kind: "change",
    user: "the garden note can go",
    understood: { calls: [["mcp_notes_delete_note", { id: 2 }]] },
  },
  {
    kind: "follow-up",
    after: ["What notes do I have?"],
    user: "delete the first one",
    understood: { calls: [["mcp_notes_delete_note", { id: 1 }]] },
  },
  {
    kind: "plain",
    user: "what does http://harbor.example/tides say?",
    understood: { answers: ["06:12", "18:31"] },
  },
  { kind: "impossible", user: "how many miles is 5 kg?" },
  { kind: "impossible", user: "what's the weather in Oslo?" },
  { kind: "impossible", user: "how much is 100 dollars in euros?" },
  { kind: "impossible", user: "who is the president of France?" },
];

const others: readonly Sentence[] = [
  {
    language: "de",
    kind: "plain",
    user: "Wie viele Meilen sind 10 km?",
    understood: { answers: [/6[.,]21/] },
  },
  {
    language: "it",
    kind: "plain",
    user: "Che ore sono a Tokyo?",
    understood: { calls: [["mcp_units_time_in", { place: /tokyo/i }]], answers: [/\d\d:\d\d/] },
  },
  { language: "es", kind: "plain", user: "¿Qué notas tengo?", understood: { answers: ["Bergen", "Friday"] } },
  {
    language: "fr",
    kind: "change",
    user: "Ajoute une note : acheter du lait",
    understood: { calls: [["mcp_notes_add_note", { text: /^"acheter du lait\.?"$/i }]] },
  },
];

export const mcpBridgeSentences: readonly Sentence[] = [
  ...english.map((sentence): Sentence => ({ language: "en", ...sentence })),
  ...others,
];
