import type { Conversation } from "capstan/testing/conversation-suite";
import { metres, minutes, never } from "./patterns.ts";

/** Finding places. */
export const places: readonly Conversation[] = [
  // Two gates have the number 15: the agent asks which one, and a short answer is enough.
  [
    {
      user: "Where's the nearest bathroom near Gate 15?",
      calls: [["search", { term: "Gate 15" }]],
      answers: ["Gate A15", "Gate D15", "which", "?"],
      never,
    },
    {
      user: "D15",
      calls: [["search", { near: {} }], ["showPOI"]],
      answers: ["Restroom Concourse D North", metres],
      never: [...never, "Concourse A"],
    },
    {
      user: "What about coffee?",
      calls: [["search", { near: {} }], ["showPOI"]],
      answers: ["Lighthouse Coffee", "Concourse D", metres],
      never,
    },
    { user: "Thanks!", calls: [], answers: ["welcome"] },
  ],
  [
    { user: "nearest toilet to gate 15", answers: ["Gate A15", "Gate D15", "?"], never },
    {
      user: "the first one",
      calls: [["search", { near: {} }], ["showPOI"]],
      answers: ["Restroom Concourse A", metres],
      never,
    },
  ],
  [
    { user: "Where is gate 15?", answers: ["Gate A15", "Gate D15", "?"], never },
    { user: "A15 please", calls: [["showPOI"]], answers: ["Gate A15", "Concourse A"], never },
  ],
  // Find, narrow down, get directions: one sentence per step.
  [
    {
      user: "find restaurants in Terminal 3",
      calls: [["search", { buildingId: "Terminal 3" }]],
      answers: ["Trattoria Molo"],
      never,
    },
    { user: "which of them have Italian food?", answers: ["Trattoria Molo"], never },
    {
      user: "directions from D2 to Trattoria Molo",
      calls: [["search", { term: "D2" }], ["showDirections"]],
      answers: ["Trattoria Molo", metres, minutes],
      never,
    },
  ],
  [
    { user: "Find sushi", calls: [["search", { term: "sushi" }]], answers: ["Sakura Sushi"], never },
    { user: "show it on the map", calls: [["showPOI"]], answers: ["Sakura Sushi"], never },
    {
      user: "how do I get there from B32?",
      calls: [["search", { term: "B32" }], ["showDirections"]],
      answers: [metres, minutes],
      never,
    },
  ],
  [
    {
      user: "I would like a pizza",
      calls: [["search", { term: "pizza" }]],
      answers: ["La Scala Pizza"],
      never,
    },
    { user: "tell me more about the first one", calls: [["getPOIDetails"]], answers: ["pizza"], never },
  ],
  [
    { user: "any vegan food?", calls: [["search"]], answers: ["Green Bowl"], never },
    {
      user: "what are the opening hours of Green Bowl?",
      calls: [["getPOIDetails"]],
      answers: ["06:00"],
      never,
    },
  ],
  [{ user: "Tell me about Sakura Sushi", calls: [["search"], ["getPOIDetails"]], answers: ["06:00"], never }],
  [{ user: "when does Green Bowl close?", calls: [["search"], ["getPOIDetails"]], answers: ["22:00"] }],
  // Places by name, with typos.
  [
    {
      user: "Where is gate B32?",
      calls: [["search", { term: "gate B32" }], ["showPOI"]],
      answers: ["Gate B32", "Concourse B"],
      never,
    },
  ],
  [{ user: "wheres the nearest resturant near D3?", answers: [metres, "Concourse D"], never }],
  [
    {
      user: "Show me Gate C61 on the map",
      calls: [["search", { term: "Gate C61" }], ["showPOI"]],
      answers: ["Gate C61"],
      never,
    },
  ],
  [{ user: "where can I find a pharmcy", answers: ["Harbor Pharmacy"], never }],
  [{ user: "Is there a lounge?", calls: [["search", { term: "lounge" }]], answers: ["Lounge"], never }],
  [
    {
      user: "water near D15",
      calls: [["search"], ["search", { near: {} }]],
      answers: ["Water", metres],
      never,
    },
  ],
  [{ user: "I'm at C61, where is the closest restroom?", answers: ["Concourse C", metres], never }],
  [
    {
      user: "Where can I charge my phone near A10?",
      calls: [["search", { term: "A10" }], ["search", { near: {} }], ["showPOI"]],
      answers: ["Charging", metres],
      never,
    },
  ],
  [
    {
      user: "What is near gate D15?",
      calls: [
        ["search", { term: "gate D15" }],
        ["searchNearby", {}],
      ],
      answers: [metres],
      never,
    },
  ],
  [
    {
      user: "cafés before security",
      calls: [["search", { security: "before" }]],
      answers: ["before security"],
      never: [...never, "after security"],
    },
  ],
  [
    {
      user: "toilets on level 1 in Terminal 1",
      calls: [["search", { level: "Level 1", buildingId: "Terminal 1" }]],
      answers: ["Level 1"],
      never: [...never, "Level 2"],
    },
  ],
  [
    {
      user: "find a dentist",
      calls: [["search", { term: "dentist" }]],
      answers: [/no |not|nothing/i],
      never,
    },
  ],
  [
    {
      user: "where is gate Z99?",
      calls: [["search", { term: "gate Z99" }]],
      answers: [/no |not|nothing/i],
      never: [...never, "Gate A"],
    },
  ],
  // Questions about one part of the airport search only that part.
  [
    {
      user: "Is there a lounge in concourse B?",
      calls: [["search", { term: "lounge", buildingId: "Concourse B" }]],
      answers: ["Nothing", "Concourse B", "Skyline Lounge (Concourse A", "Harbor Lounge (Concourse D"],
      never: [...never, "Lift", "places:"],
    },
  ],
  [
    {
      user: "find a cafe in concourse D",
      calls: [["search", { buildingId: "Concourse D" }]],
      answers: ["Mast & Bean", "Lighthouse Coffee"],
      never: [...never, "Concourse A"],
    },
  ],
  [
    {
      user: "Where can I eat before security in terminal 2?",
      calls: [["search", { buildingId: "Terminal 2", security: "before" }], ["showPOI"]],
      answers: ["Captain's Table", "before security"],
      never: [...never, "Lift"],
    },
  ],
  [
    {
      user: "Is there anything to eat near D15",
      calls: [
        ["search", { term: "D15" }],
        ["search", { near: {} }],
      ],
      answers: ["Green Bowl", "Trattoria Molo", metres],
      never,
    },
  ],
  [
    {
      user: "I'm at gate A5 and need a coffee",
      calls: [
        ["search", { term: "gate A5" }],
        ["search", { term: "coffee", near: {} }],
      ],
      answers: ["Lighthouse Coffee (46 metres", "Concourse A"],
      never,
    },
  ],
  // Unknown gate: the answer lists the gates of its concourse.
  [
    {
      user: "where is gate B7?",
      calls: [["search", { term: "gate B7" }]],
      answers: ["B30 to B51", "Concourse B"],
      never,
    },
  ],
];
