import type { Token } from "marked";
import { describe, expect, it } from "vitest";
import { tokenizeBlock } from "./bounded-lexer.ts";
import { parseSafeImage } from "./safe-image.ts";

const findMath = (tokens: readonly Token[]): readonly string[] =>
  tokens.flatMap((token) => [
    ...(token.type === "math" ? [`${token.isBlock ? "block" : "inline"} ${token.text}`] : []),
    ...findMath("tokens" in token ? (token.tokens ?? []) : []),
  ]);
const parseMath = (text: string) => findMath(tokenizeBlock(text, {}));

describe("maths in a text", () => {
  it.each([
    ["Let $x^2$ be", ["inline x^2"]],
    ["Let \\(a_b\\) be", ["inline a_b"]],
    ["$$\na + b\n$$", ["block a + b"]],
    ["\\[ a \\]", ["block a"]],
    ["So $$a$$ and **$b$**", ["block a", "inline b"]],
    ["before\n$$a$$\nafter", ["block a"]],
  ])("%j is found", (text, found) => expect(parseMath(text)).toEqual(found));

  it.each([
    "$5 and $10",
    "$5-$10",
    "costs $ 5 $",
    "a $x",
    "`$x$`",
    "```\n$$x$$\n```",
    "$$\n\n$$",
    "$\n$",
  ])("%j has none", (text) => expect(parseMath(text)).toEqual([]));
});

describe("an image in a text", () => {
  it.each(["data:image/png;base64,AAAA", "/api/sessions/ses_1/blobs/blob_1"])("%s is shown", (href) =>
    expect(parseSafeImage(href, "ses_1")).toBe(href));

  it.each([
    "https://pictures.example/a.png",
    "//pictures.example/a.png",
    "data:image/svg+xml;base64,AAAA",
    "data:text/html;base64,AAAA",
    "data:image/png,AAAA",
    "javascript:alert(1)",
    "/api/sessions/ses_2/blobs/blob_1",
    "/api/sessions/ses_1/blobs/../../about",
    "/api/sessions/ses_1/blobs/..",
    "/api/sessions/ses_1/blobs/a?b",
    `data:image/png;base64,${"A".repeat(3_000_001)}`,
  ])("address %# is not loaded", (href) => expect(parseSafeImage(href, "ses_1")).toBeUndefined());

  it("of a session is not loaded outside of it", () =>
    expect(parseSafeImage("/api/sessions/ses_1/blobs/b", undefined)).toBeUndefined());
});
