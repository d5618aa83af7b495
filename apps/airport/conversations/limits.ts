import type { Conversation } from "capstan/testing/conversation-suite";
import { never } from "./patterns.ts";

/** Requests the agent has to decline, and small talk that needs no tool. */
export const limits: readonly Conversation[] = [
  // No tool covers these requests.
  [{ user: "When does my flight to Oslo leave?", calls: [], answers: ["cannot"], never }],
  [{ user: "What is the weather in Lisbon?", calls: [], answers: ["cannot"], never }],
  [{ user: "Book me a hotel", calls: [], answers: ["cannot"], never }],
  // Small talk needs no tool.
  [{ user: "Hello!", calls: [], answers: ["Hello"] }],
  [{ user: "What can you do?", calls: [], answers: ["search", "route"], never: ["showDirections"] }],
  [{ user: "who are you?", calls: [], answers: [/offline|rules/i] }],
];
