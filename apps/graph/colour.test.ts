import { describe, expect, it } from "vitest";
import { colourInWords, hexColour } from "./colour.ts";

describe("a colour", () => {
  it.each([
    ["blue", "#0000ff"],
    [" Blue ", "#0000ff"],
    ["light blue", "#add8e6"],
    ["grey", "#808080"],
    ["#0000FF", "#0000ff"],
    ["#0af", "#00aaff"],
  ])("%s is %s (S2-56)", (said, hex) => {
    expect(hexColour(said)).toEqual({ hex });
  });

  it.each([
    "bleu",
    "",
    "#12",
    "rgb(0,0,0)",
    "toString",
  ])("%j is none, and says what works (S2-56)", (said) => {
    expect(hexColour(said)).toEqual({ problem: expect.stringContaining("#0000ff always work") });
  });

  it.each([
    ["light blue", "light blue"],
    ["#FF0000", "red (#ff0000)"],
    ["#123456", "#123456"],
  ])("%s is told as %s", (said, told) => {
    expect(colourInWords(said)).toBe(told);
  });
});
