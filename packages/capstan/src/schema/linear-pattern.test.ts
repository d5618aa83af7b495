import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { toRe2 } from "./linear-pattern.ts";

const finds = (pattern: string, text: string) => {
  const { re2, problem } = toRe2(pattern);
  if (re2 === undefined) throw new Error(problem);
  return RE2JS.compile(re2).test(text);
};

/** Texts of what patterns treat in a special way: line ends, spaces, word ends, brackets, characters beyond the BMP. */
const alphabet = [
  ...["a", "b", "c", "B", "1", "_", "-", " ", "\n", "\r", "\u2028", "\u00a0", "\ufeff", "\v", "\b"],
  ...["[", "]", ":", "^", ".", "\\", "/", "é", "ß", "α", "😀", "\ud83d", "\0"],
];
const texts = fc
  .array(fc.constantFrom(...alphabet), { maxLength: 6 })
  .map((characters) => characters.join(""));

const escapes = [
  ...["\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\t", "\\n", "\\v", "\\0", "\\cJ", "\\x61", "\\u0061"],
  ...["\\u{1F600}", "\\uD83D\\uDE00", "\\/", "\\.", "\\[", "\\]", "\\^", "\\\\"],
  ...["\\p{L}", "\\P{L}", "\\p{Lu}", "\\p{Script=Greek}", "\\p{gc=Nd}"],
];
const single = fc.constantFrom("a", "b", "é", "😀", ":", "-", " ");
const classMembers = fc.array(
  fc.oneof(single, fc.constantFrom(...escapes, "[", "a-c", "😀-😂", "\\x00-\\x20", ".", "$", "\\b", "\\-")),
  { maxLength: 4 },
);
const classes = fc
  .tuple(fc.constantFrom("[", "[^"), classMembers)
  .map(([opening, members]) => `${opening}${members.join("")}]`);
const atoms = fc.oneof(single, classes, fc.constantFrom(...escapes, ".", "^", "$", "\\b", "\\B"));

const { pattern: patterns } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc
    .array(
      fc
        .tuple(
          fc.oneof(
            { maxDepth: 3 },
            atoms,
            fc
              .tuple(fc.constantFrom("(", "(?:", "(?<name>"), tie("pattern"))
              .map(([open, inner]) => `${open}${inner})`),
          ),
          fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,}", "{0,3}", "*?", "|"),
        )
        .map((parts) => parts.join("")),
      { minLength: 1, maxLength: 4 },
    )
    .map((terms) => terms.join("")),
}));

describe("a pattern in RE2's syntax", () => {
  it("finds the same matches as ECMAScript with the u flag (A116)", () => {
    fc.assert(
      fc.property(patterns, fc.array(texts, { minLength: 1, maxLength: 10 }), (pattern, texts) => {
        let native: RegExp;
        try {
          native = new RegExp(pattern, "u");
        } catch {
          return fc.pre(false);
        }
        for (const text of texts) {
          // V8 finds \B between the two halves of a character beyond the BMP, where no character ends.
          if (pattern.includes("\\B") && /[\ud800-\udbff][\udc00-\udfff]/.test(text)) continue;
          expect([text, finds(pattern, text)]).toEqual([text, native.test(text)]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["a", "xay", true],
    ["^a$", "a\n", false],
    ["^.$", "😀", true],
    [".", "\r", false],
    ["^\\s$", "\u00a0", true],
    ["^[^\\s]$", "\u3000", false],
    ["^[\\S\\n]$", "\n", true],
    ["^[[:alpha:]$", "b", false],
    ["^[[:alpha:]$", "[", true],
    ["^[+--]$", ",", true],
    ["^[a-c-e]$", "-", true],
    ["^[^]$", "\n", true],
    ["[]", "a", false],
    ["^[\\b]$", "\b", true],
    ["^\\p{Script=Greek}+$", "αβγ", true],
    ["^(?<year>\\d{4})-(?<month>\\d{2})$", "2026-11", true],
    ["", "", true],
  ])("%s in %j: %s", (pattern, text, found) => {
    expect(new RegExp(pattern, "u").test(text)).toBe(found);
    expect(finds(pattern, text)).toBe(found);
  });

  it.each([
    ["(?=a)", /^it uses lookaround/],
    ["(?!a)b", /^it uses lookaround/],
    ["(?<=a)b", /^it uses lookaround/],
    ["(?<!a)b", /^it uses lookaround/],
    ["(a)\\1", /^it uses a back-reference/],
    ["(?<x>a)\\k<x>", /^it uses a back-reference/],
    ["(?i:a)", /^it changes flags|^it is invalid/],
    ["a{1,1001}", /^it repeats more than 1000 times/],
    ["(", /^it is invalid \(.*Unterminated group/],
    ["a\\-b", /^it is invalid/],
    ["\\Qa\\E", /^it is invalid/],
    ["\\pL", /^it is invalid/],
  ])("cannot be translated for %s and reports the reason (A116)", (pattern, reason) => {
    expect(toRe2(pattern)).toEqual({ problem: expect.stringMatching(reason) });
  });
});
