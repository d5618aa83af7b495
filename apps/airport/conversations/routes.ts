import type { Conversation } from "capstan/testing/conversation-suite";
import { metres, minutes, never } from "./patterns.ts";

/** Directions. */
export const routes: readonly Conversation[] = [
  // Both ends are searched, then the route is shown.
  [
    {
      user: "Directions from the Terminal 2 checkpoint to D15",
      calls: [["search", { term: "Terminal 2 checkpoint" }], ["search", { term: "D15" }], ["showDirections"]],
      answers: ["Gate D15", metres, minutes],
      never,
    },
  ],
  // The agent asks for a missing start, and a short answer is enough.
  [
    { user: "How do I get to D15?", calls: [], answers: ["from … to D15", "?"], never },
    {
      user: "I'm at gate C61",
      calls: [["search"], ["search", { term: "D15" }], ["showDirections"]],
      answers: ["Gate C61", "Gate D15", metres, minutes],
      never,
    },
  ],
  [{ user: "I want to go to the pharmacy", calls: [], answers: ["from … to", "pharmacy", "?"], never }],
  [{ user: "how far is gate D15", calls: [], answers: ["gate D15 from …", "?"], never }],
  [
    {
      user: "How do I get from C80 to D15 without stairs?",
      calls: [
        ["search", { term: "C80" }],
        ["search", { term: "D15" }],
        ["showDirections", { accessible: true }],
      ],
      answers: ["recorded", "Information Desk"],
      never: [...never, /there is no step-free way/i, /does not exist/i, /impossible/i],
    },
  ],
  [
    {
      user: "step-free route from A3 to the Harbor Lounge",
      calls: [["search", { term: "A3" }], ["search"], ["showDirections", { accessible: true }]],
      answers: ["Harbor Lounge", metres, minutes],
      never: [...never, /stairs to/i, /escalator to/i],
    },
  ],
  [
    {
      user: "take me from gate B32 to gate B44",
      calls: [["search"], ["search"], ["showDirections"]],
      answers: ["Gate B44", metres, minutes],
      never,
    },
    {
      user: "and to C61?",
      calls: [["search", { term: "C61" }], ["showDirections"]],
      answers: ["Gate C61"],
      never,
    },
  ],
  [
    {
      user: "Show me the way from the Terminal 1 checkpoint to A12 via the Skyline Lounge",
      answers: ["Skyline Lounge", metres],
      never,
    },
  ],
  // The stops are visited in the shortest order, not as given.
  [
    {
      user: "What is the shortest way from A1 to D2 via D15 and A17?",
      calls: [["search"], ["search"], ["search"], ["search"], ["showDirections", { shortestOrder: true }]],
      answers: ["Gate A17, Gate D15", metres, minutes],
      never,
    },
  ],
  [{ user: "How far is it from A3 to A12?", answers: ["Gate A12", metres, minutes], never }],
];
