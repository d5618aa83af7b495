import type { Conversation } from "capstan/testing/conversation-suite";
import { never } from "./telling.ts";

/** What it cannot do it says, and small talk needs no tool. */
export const limits: readonly Conversation[] = [
  // What it cannot do, it says.
  [{ user: "When does my flight to Oslo leave?", calls: [], answers: ["cannot"], never }],
  [{ user: "What is the weather in Lisbon?", calls: [], answers: ["cannot"], never }],
  [{ user: "Book me a hotel", calls: [], answers: ["cannot"], never }],
  // Small talk needs no tool.
  [{ user: "Hello!", calls: [], answers: ["Hello"] }],
  [{ user: "What can you do?", calls: [], answers: ["search", "showDirections"] }],
  [{ user: "who are you?", calls: [], answers: [/offline|rules/i] }],
];
