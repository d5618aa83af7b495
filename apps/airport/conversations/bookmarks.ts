import type { Conversation } from "capstan/testing/conversation-suite";
import { never } from "./patterns.ts";

/** Bookmarks change state and persist across turns. */
export const bookmarks: readonly Conversation[] = [
  [
    {
      user: "find the Harbor Lounge",
      calls: [["search", { term: "Harbor Lounge" }]],
      answers: ["Harbor Lounge"],
      never,
    },
    { user: "bookmark it", calls: [["bookmark"]], answers: ["Harbor Lounge"], never },
    { user: "what are my bookmarks?", calls: [["getBookmarks"]], answers: ["Harbor Lounge"], never },
    {
      user: "remove the bookmark of the Harbor Lounge",
      calls: [["bookmark", { remove: true }]],
      answers: ["Harbor Lounge"],
      never,
    },
  ],
  [{ user: "did I bookmark the Harbor Lounge?", never: [...never, "is bookmarked"] }],
  [{ user: "Should I bookmark the Harbor Lounge?", never: [...never, "bookmarked"] }],
  [{ user: "Save the Skyline Lounge", calls: [["search"], ["bookmark"]], answers: ["Skyline Lounge"] }],
  [{ user: "Don't bookmark it, just show me the Harbor Lounge", calls: [["search"], ["showPOI"]], never }],
  [
    {
      user: "Save gate D15 for me",
      calls: [["search", { term: "gate D15" }], ["bookmark"]],
      answers: ["Gate D15"],
      never,
    },
  ],
  [
    {
      user: "Save the Skyline Lounge",
      calls: [["search"], ["bookmark"]],
      answers: ["Skyline Lounge"],
      never,
    },
    { user: "save gate D15", calls: [["search"], ["bookmark"]], answers: ["Gate D15"], never },
    { user: "what have I saved?", calls: [["getBookmarks"]], answers: ["Skyline Lounge", "Gate D15"], never },
    { user: "show my saved places", calls: [["getBookmarks"]], answers: ["Skyline Lounge"], never },
    {
      user: "delete all my bookmarks",
      calls: [["clearBookmarks"]],
      answers: ["2 bookmarks", "removed"],
      never,
    },
    { user: "what are my bookmarks?", calls: [["getBookmarks"]], answers: ["no bookmarks"], never },
  ],
  [
    { user: "bookmark the Harbor Lounge", calls: [["search"], ["bookmark"]], never },
    { user: "remove all my bookmarks", calls: [["clearBookmarks"]], answers: ["removed"], never },
    { user: "what are my bookmarks?", calls: [["getBookmarks"]], answers: ["no bookmarks"], never },
  ],
];
