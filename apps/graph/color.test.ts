import { describe, expect, it } from "vitest";
import { formatColor, parseColor } from "./color.ts";

describe("a color", () => {
  it.each([
    ["blue", "#0000ff"],
    [" Blue ", "#0000ff"],
    ["light blue", "#add8e6"],
    ["grey", "#808080"],
    ["#0000FF", "#0000ff"],
    ["#0af", "#00aaff"],
  ])("%s is %s (S2-56)", (said, hex) => {
    expect(parseColor(said)).toEqual({ hex });
  });

  it.each([
    "bleu",
    "",
    "#12",
    "rgb(0,0,0)",
    "toString",
  ])("%j is rejected with a hint at valid values (S2-56)", (said) => {
    expect(parseColor(said)).toEqual({ problem: expect.stringContaining("#0000ff always work") });
  });

  it.each([
    ["light blue", "light blue"],
    ["#FF0000", "red (#ff0000)"],
    ["#123456", "#123456"],
  ])("%s is formatted as %s", (said, told) => {
    expect(formatColor(said)).toBe(told);
  });
});
