import type { Talk } from "capstan/testing/talks-suite";
import { never } from "./telling.ts";

/** What it cannot do it says, and small talk needs no tool. */
export const limits: readonly Talk[] = [
  // What it cannot do, it says.
  [{ says: "When does my flight to Oslo leave?", calls: [], answers: ["cannot"], never }],
  [{ says: "What is the weather in Lisbon?", calls: [], answers: ["cannot"], never }],
  [{ says: "Book me a hotel", calls: [], answers: ["cannot"], never }],
  // Small talk needs no tool.
  [{ says: "Hello!", calls: [], answers: ["Hello"] }],
  [{ says: "What can you do?", calls: [], answers: ["search", "showDirections"] }],
  [{ says: "who are you?", calls: [], answers: [/offline|rules/i] }],
];
