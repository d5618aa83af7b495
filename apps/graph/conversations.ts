// Conversations with the graph explorer, with the expected calls and answers.

import type { Conversation } from "capstan/testing/conversation-suite";
import { changes } from "./conversations/changes.ts";
import { isHonest } from "./conversations/patterns.ts";
import { questions } from "./conversations/questions.ts";

const smallTalk: readonly Conversation[] = [
  [{ user: "Hello", calls: [] }],
  [{ user: "thanks!", calls: [], answers: ["welcome"] }],
  [{ user: "What can you do?", calls: [], answers: ["color nodes"], never: ["findNodes"] }],
  [{ user: "What will the weather be tomorrow?", calls: [], answers: [isHonest] }],
  [{ user: "Send an email to Ada", calls: [], answers: [isHonest] }],
  [{ user: "Delete the node Shadow", calls: [], answers: [isHonest] }],
  [{ user: "Who wrote Les Misérables?", calls: [], answers: [isHonest], never: ["Hugo"] }],
];

export const conversations: readonly Conversation[] = [...questions, ...changes, ...smallTalk];
