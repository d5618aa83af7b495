import type { Talk } from "capstan/testing/talks-suite";

/** Ids begin at 5001 and are for the tools alone. */
const never = [/poiId/i, /\b[56]\d{3}\b/];
const metres = /\d+ (m|metres)\b/;
const minutes = /\d+ min/;

/** What people ask at an airport, and what must come of it. */
export const talks: readonly Talk[] = [
  // Two gates have the number 15: it asks which, and a short answer is enough.
  [
    {
      says: "Where's the nearest bathroom near Gate 15?",
      calls: [["search", { term: "Gate 15" }]],
      answers: ["Gate A15", "Gate D15", "which", "?"],
      never,
    },
    {
      says: "D15",
      calls: [["search", { near: {} }], ["showPOI"]],
      answers: ["Restroom Concourse D North", metres],
      never: [...never, "Concourse A"],
    },
    {
      says: "What about coffee?",
      calls: [["search", { near: {} }], ["showPOI"]],
      answers: ["Lighthouse Coffee", "Concourse D", metres],
      never,
    },
    { says: "Thanks!", calls: [], answers: ["welcome"] },
  ],
  [
    { says: "nearest toilet to gate 15", answers: ["Gate A15", "Gate D15", "?"], never },
    {
      says: "the first one",
      calls: [["search", { near: {} }], ["showPOI"]],
      answers: ["Restroom Concourse A", metres],
      never,
    },
  ],
  [
    { says: "Where is gate 15?", answers: ["Gate A15", "Gate D15", "?"], never },
    { says: "A15 please", calls: [["showPOI"]], answers: ["Gate A15", "Concourse A"], never },
  ],
  // Both ends of a way are looked up, then it is drawn.
  [
    {
      says: "Directions from the Terminal 2 checkpoint to D15",
      calls: [["search", { term: "Terminal 2 checkpoint" }], ["search", { term: "D15" }], ["showDirections"]],
      answers: ["Gate D15", metres, minutes],
      never,
    },
  ],
  // Where a way begins is asked for, and a short answer is enough.
  [
    { says: "How do I get to D15?", calls: [], answers: ["from … to D15", "?"], never },
    {
      says: "I'm at gate C61",
      calls: [["search"], ["search", { term: "D15" }], ["showDirections"]],
      answers: ["Gate C61", "Gate D15", metres, minutes],
      never,
    },
  ],
  [{ says: "I want to go to the pharmacy", calls: [], answers: ["from … to", "pharmacy", "?"], never }],
  [{ says: "how far is gate D15", calls: [], answers: ["gate D15 from …", "?"], never }],
  [
    {
      says: "How do I get from C80 to D15 without stairs?",
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
      says: "step-free route from A3 to the Harbor Lounge",
      calls: [["search", { term: "A3" }], ["search"], ["showDirections", { accessible: true }]],
      answers: ["Harbor Lounge", metres, minutes],
      never: [...never, /stairs to/i, /escalator to/i],
    },
  ],
  [
    {
      says: "take me from gate B32 to gate B44",
      calls: [["search"], ["search"], ["showDirections"]],
      answers: ["Gate B44", metres, minutes],
      never,
    },
    {
      says: "and to C61?",
      calls: [["search", { term: "C61" }], ["showDirections"]],
      answers: ["Gate C61"],
      never,
    },
  ],
  [
    {
      says: "Show me the way from the Terminal 1 checkpoint to A12 via the Skyline Lounge",
      answers: ["Skyline Lounge", metres],
      never,
    },
  ],
  [{ says: "How far is it from A3 to A12?", answers: ["Gate A12", metres, minutes], never }],
  // Find, narrow down, lead the way: several steps, each in words.
  [
    {
      says: "find restaurants in Terminal 3",
      calls: [["search", { buildingId: "Terminal 3" }]],
      answers: ["Trattoria Molo"],
      never,
    },
    { says: "which of them have Italian food?", answers: ["Trattoria Molo"], never },
    {
      says: "directions from D2 to Trattoria Molo",
      calls: [["search", { term: "D2" }], ["showDirections"]],
      answers: ["Trattoria Molo", metres, minutes],
      never,
    },
  ],
  [
    { says: "Find sushi", calls: [["search", { term: "sushi" }]], answers: ["Sakura Sushi"], never },
    { says: "show it on the map", calls: [["showPOI"]], answers: ["Sakura Sushi"], never },
    {
      says: "how do I get there from B32?",
      calls: [["search", { term: "B32" }], ["showDirections"]],
      answers: [metres, minutes],
      never,
    },
  ],
  [
    {
      says: "I would like a pizza",
      calls: [["search", { term: "pizza" }]],
      answers: ["La Scala Pizza"],
      never,
    },
    { says: "tell me more about the first one", calls: [["getPOIDetails"]], answers: ["pizza"], never },
  ],
  [
    { says: "any vegan food?", calls: [["search"]], answers: ["Green Bowl"], never },
    {
      says: "what are the opening hours of Green Bowl?",
      calls: [["getPOIDetails"]],
      answers: ["06:00"],
      never,
    },
  ],
  [{ says: "Tell me about Sakura Sushi", calls: [["search"], ["getPOIDetails"]], answers: ["06:00"], never }],
  [{ says: "when does Green Bowl close?", calls: [["search"], ["getPOIDetails"]], answers: ["22:00"] }],
  // Places by name, with slips of the pen.
  [
    {
      says: "Where is gate B32?",
      calls: [["search", { term: "gate B32" }], ["showPOI"]],
      answers: ["Gate B32", "Concourse B"],
      never,
    },
  ],
  [{ says: "wheres the nearest resturant near D3?", answers: [metres, "Concourse D"], never }],
  [
    {
      says: "Show me Gate C61 on the map",
      calls: [["search", { term: "Gate C61" }], ["showPOI"]],
      answers: ["Gate C61"],
      never,
    },
  ],
  [{ says: "where can I find a pharmcy", answers: ["Harbor Pharmacy"], never }],
  [{ says: "Is there a lounge?", calls: [["search", { term: "lounge" }]], answers: ["Lounge"], never }],
  [
    {
      says: "water near D15",
      calls: [["search"], ["search", { near: {} }]],
      answers: ["Water", metres],
      never,
    },
  ],
  [{ says: "I'm at C61, where is the closest restroom?", answers: ["Concourse C", metres], never }],
  [
    {
      says: "Where can I charge my phone near A10?",
      calls: [["search", { term: "A10" }], ["search", { near: {} }], ["showPOI"]],
      answers: ["Charging", metres],
      never,
    },
  ],
  [
    {
      says: "What is near gate D15?",
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
      says: "cafés before security",
      calls: [["search", { security: "before" }]],
      answers: ["before security"],
      never: [...never, "after security"],
    },
  ],
  [
    {
      says: "toilets on level 1 in Terminal 1",
      calls: [["search", { level: "Level 1", buildingId: "Terminal 1" }]],
      answers: ["Level 1"],
      never: [...never, "Level 2"],
    },
  ],
  [
    {
      says: "find a dentist",
      calls: [["search", { term: "dentist" }]],
      answers: [/no |not|nothing/i],
      never,
    },
  ],
  [
    {
      says: "where is gate Z99?",
      calls: [["search", { term: "gate Z99" }]],
      answers: [/no |not|nothing/i],
      never: [...never, "Gate A"],
    },
  ],
  // The airport as a whole.
  [
    {
      says: "How many terminals are there?",
      calls: [["getBuildingsAndLevels"]],
      answers: ["Terminal 1", "Terminal 2", "Terminal 3"],
      never,
    },
  ],
  [
    {
      says: "which levels does the airport have",
      calls: [["getBuildingsAndLevels"]],
      answers: ["Level 1", "Level 2"],
      never,
    },
  ],
  [
    {
      says: "What kinds of places can you find?",
      calls: [["getCategories"]],
      answers: ["restroom", "cafe", "gate"],
      never,
    },
  ],
  [
    {
      says: "How long is the wait at security?",
      calls: [["getSecurityWaitTimes"]],
      answers: ["simulated", "Terminal 1 Checkpoint", minutes],
      never,
    },
    { says: "which one is the fastest?", answers: ["Checkpoint"], never },
  ],
  [{ says: "security wait times please", calls: [["getSecurityWaitTimes"]], answers: ["simulated"], never }],
  // Bookmarks change something, and last.
  [
    {
      says: "find the Harbor Lounge",
      calls: [["search", { term: "Harbor Lounge" }]],
      answers: ["Harbor Lounge"],
      never,
    },
    { says: "bookmark it", calls: [["bookmark"]], answers: ["Harbor Lounge"], never },
    { says: "what are my bookmarks?", calls: [["getBookmarks"]], answers: ["Harbor Lounge"], never },
    {
      says: "remove the bookmark of the Harbor Lounge",
      calls: [["bookmark", { remove: true }]],
      answers: ["Harbor Lounge"],
      never,
    },
  ],
  [{ says: "did I bookmark the Harbor Lounge?", never: [...never, "is bookmarked"] }],
  [{ says: "Should I bookmark the Harbor Lounge?", never: [...never, "bookmarked"] }],
  [{ says: "Save the Skyline Lounge", calls: [["search"], ["bookmark"]], answers: ["Skyline Lounge"] }],
  [{ says: "Don't bookmark it, just show me the Harbor Lounge", calls: [["search"], ["showPOI"]], never }],
  [
    {
      says: "Save gate D15 for me",
      calls: [["search", { term: "gate D15" }], ["bookmark"]],
      answers: ["Gate D15"],
      never,
    },
  ],
  // What it cannot do, it says.
  [{ says: "When does my flight to Oslo leave?", calls: [], answers: ["cannot"], never }],
  [{ says: "What is the weather in Lisbon?", calls: [], answers: ["cannot"], never }],
  [{ says: "Book me a hotel", calls: [], answers: ["cannot"], never }],
  // Small talk needs no tool.
  [{ says: "Hello!", calls: [], answers: ["Hello"] }],
  [{ says: "What can you do?", calls: [], answers: ["search", "showDirections"] }],
  [{ says: "who are you?", calls: [], answers: [/offline|rules/i] }],
];
