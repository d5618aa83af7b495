import { describe, expect, it } from "vitest";
import { createStyle } from "./style.ts";

describe("styles", () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: "1" }, true, false],
    [{ NO_COLOR: "" }, true, true],
    [{ FORCE_COLOR: "1" }, false, true],
    [{ FORCE_COLOR: "0" }, true, false],
    [{ TERM: "dumb" }, true, false],
  ])("with %j, terminal %j: %j", (env, isTTY, isStyled) => {
    expect(createStyle({ isTTY } as never, env).bold("x")).toBe(isStyled ? "\x1b[1mx\x1b[22m" : "x");
  });
});
