// What people say to the graph explorer, in the words they would use, and what must come of it.

import type { Conversation } from "capstan/testing/conversation-suite";
import { doing } from "./conversations/changes.ts";
import { isHonest } from "./conversations/patterns.ts";
import { seeing } from "./conversations/questions.ts";

const outside: readonly Conversation[] = [
  [{ user: "Hello", calls: [] }],
  [{ user: "thanks!", calls: [], answers: ["welcome"] }],
  [{ user: "What can you do?", calls: [], answers: ["findNodes"] }],
  [{ user: "What will the weather be tomorrow?", calls: [], answers: [isHonest] }],
  [{ user: "Send an email to Ada", calls: [], answers: [isHonest] }],
  [{ user: "Delete the node Shadow", calls: [], answers: [isHonest] }],
  [{ user: "Who wrote Les Misérables?", calls: [], answers: [isHonest], never: ["Hugo"] }],
];

export const talks: readonly Conversation[] = [...seeing, ...doing, ...outside];
