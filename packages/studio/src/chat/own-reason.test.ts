import { expect, test } from "vitest";
import { ownReason } from "./own-reason.ts";

const gate =
  '"send" reaches the outside (a@b.test) after text that is not to be trusted was read by read in turn 1 with {"path":"x"}.';

test("of a reason the sentence of the gate is left out, which is the last one", () => {
  expect(ownReason(`Sends a letter. ${gate}`, "send")).toBe("Sends a letter.");
  expect(ownReason(gate, "send")).toBe("");
  expect(ownReason("Sends a letter.", "send")).toBe("Sends a letter.");
});

test("words that look like the gate's hide nothing before them", () => {
  const wish = 'Writes "x". "send" changes something harmless.';
  expect(ownReason(`${wish} ${gate}`, "send")).toBe(wish);
  expect(ownReason(`${wish} "write" changes something after …`, "write")).toBe(wish);
});
