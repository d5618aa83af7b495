import type { EntryView } from "capstan/client";
import { expect, it } from "vitest";
import { findQueued } from "./find-queued.ts";

const user = (seq: number, content: string): EntryView => ({ type: "user", runId: `r${seq}`, seq, content });

it("a message sent during a run is queued until it arrives in the conversation, also one that was sent before", () => {
  const entries = [user(1, "Again"), user(9, "Again"), user(12, "Other")];
  const sentTexts = [
    { text: "Again", seq: 4 },
    { text: "Again", seq: 5 },
    { text: "Other", seq: 5 },
    { text: "Last", seq: 5 },
  ];
  expect(findQueued({ entries }, sentTexts)).toEqual([sentTexts[1], sentTexts[3]]);
});
