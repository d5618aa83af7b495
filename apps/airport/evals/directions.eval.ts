import { defineEval, type Eval, scorers } from "capstan/evals";
import { airport } from "../agent.ts";
import type { Bookmarks } from "../bookmarks.ts";

/** The clock of the simulated wait times stands still, so that every experiment sees the same ones. */
const clock = { now: () => Date.UTC(2026, 0, 15, 8) };
const noBookmarks: Bookmarks = { list: async () => [], update: async () => undefined };

const directions: Eval = defineEval({
  name: "airport directions",
  agent: () => airport({ clock, bookmarks: noBookmarks }),
  cases: [
    {
      id: "checkpoint to D15",
      input: "Directions from the Terminal 2 checkpoint to D15",
      expected: ["Gate D15", "m", "min"],
      calls: ["search", "search", "showDirections"],
    },
    {
      id: "step-free",
      input: "step-free route from A3 to the Harbor Lounge",
      expected: "Harbor Lounge",
      calls: ["search", "search", { name: "showDirections", input: { accessible: true } }],
    },
    {
      id: "missing start",
      input: "How do I get to D15?",
      expected: "from … to D15",
      calls: [],
      notes: "It asks, and does not guess where the traveler is.",
    },
    {
      id: "two gates",
      input: "Where's the nearest bathroom near Gate 15?",
      expected: ["Gate A15", "Gate D15"],
      notes: "Two gates have this number: it asks which one.",
      forbidden: ["bookmark", "clearBookmarks"],
    },
    {
      id: "waiting",
      input: "How long is the wait at security?",
      expected: "simulated",
      calls: ["getSecurityWaitTimes"],
    },
  ],
  scorers: [scorers.contains(), scorers.callSequence(), scorers.forbiddenEffects(), scorers.maxTurns(6)],
});

export default directions;
