import type { Conversation } from "capstan/testing/conversation-suite";
import { minutes, never } from "./patterns.ts";

/** Questions about the airport as a whole. */
export const venue: readonly Conversation[] = [
  [
    {
      user: "How many terminals are there?",
      calls: [["getBuildingsAndLevels"]],
      answers: ["Terminal 1", "Terminal 2", "Terminal 3"],
      never,
    },
  ],
  [
    {
      user: "which levels does the airport have",
      calls: [["getBuildingsAndLevels"]],
      answers: ["Level 1", "Level 2"],
      never,
    },
  ],
  [
    {
      user: "What kinds of places can you find?",
      calls: [["getCategories"]],
      answers: ["restroom", "cafe", "gate"],
      never,
    },
  ],
  [
    {
      user: "How long is the wait at security?",
      calls: [["getSecurityWaitTimes"]],
      answers: ["simulated", "Terminal 1 Checkpoint", minutes],
      never,
    },
    { user: "which one is the fastest?", answers: ["Checkpoint"], never },
  ],
  [{ user: "security wait times please", calls: [["getSecurityWaitTimes"]], answers: ["simulated"], never }],
  [
    {
      user: "How long is the wait at terminal 2?",
      calls: [["getSecurityWaitTimes", { buildingId: "Terminal 2" }]],
      answers: ["simulated", "Terminal 2 Checkpoint", minutes],
      never: [...never, "Terminal 1"],
    },
    {
      user: "and terminal 3?",
      calls: [["getSecurityWaitTimes", { buildingId: "Terminal 3" }]],
      answers: ["simulated", "Terminal 3 Checkpoint", minutes],
      never: [...never, "Terminal 2"],
    },
  ],
  [
    {
      user: "how many gates are there?",
      calls: [["getCategories", { kind: "gates" }]],
      answers: ["92"],
      never,
    },
  ],
  [
    {
      user: "How many gates does concourse B have?",
      calls: [["getCategories", { kind: "gates" }]],
      answers: ["Concourse B has 22"],
      never,
    },
  ],
];
