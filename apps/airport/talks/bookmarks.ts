import type { Talk } from "capstan/testing/talks-suite";
import { never } from "./telling.ts";

/** Bookmarks change something, and last. */
export const bookmarks: readonly Talk[] = [
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
  [
    {
      says: "Save the Skyline Lounge",
      calls: [["search"], ["bookmark"]],
      answers: ["Skyline Lounge"],
      never,
    },
    { says: "save gate D15", calls: [["search"], ["bookmark"]], answers: ["Gate D15"], never },
    { says: "what have I saved?", calls: [["getBookmarks"]], answers: ["Skyline Lounge", "Gate D15"], never },
    { says: "show my saved places", calls: [["getBookmarks"]], answers: ["Skyline Lounge"], never },
    {
      says: "delete all my bookmarks",
      calls: [["clearBookmarks"]],
      answers: ["2 bookmarks", "removed"],
      never,
    },
    { says: "what are my bookmarks?", calls: [["getBookmarks"]], answers: ["no bookmarks"], never },
  ],
  [
    { says: "bookmark the Harbor Lounge", calls: [["search"], ["bookmark"]], never },
    { says: "remove all my bookmarks", calls: [["clearBookmarks"]], answers: ["removed"], never },
    { says: "what are my bookmarks?", calls: [["getBookmarks"]], answers: ["no bookmarks"], never },
  ],
];
