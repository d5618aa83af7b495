import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseSelector, SelectorError } from "./selector.ts";

const whiskers = { type: "cat", name: "Whiskers", breed: "tabby", age: 5, tame: true };

describe("a selector", () => {
  it.each<[selector: string, matches: boolean]>([
    ["type == 'cat'", true],
    ['type == "cat"', true],
    ["type == cat", true],
    ["type == 'Cat'", true],
    ["type == 'dog'", false],
    ["type != 'dog'", true],
    ["age > 4", true],
    ["age > 5", false],
    ["age >= 5", true],
    ["age < 5", false],
    ["age <= 5", true],
    ["age == '5'", true],
    ["age > 10", false],
    ["name < 'Zed'", true],
    ["name contains 'whisk'", true],
    ["name contains 'x'", false],
    ["tame == true", true],
    ["type == 'cat' and age > 6", false],
    ["type == 'cat' and age > 4 and age > 6", false],
    ["type == 'dog' or age > 4", true],
    ["type == 'cat' AND age > 4", true],
    ["type == 'dog' and age > 4 or breed == 'tabby'", true],
    ["type == 'dog' and (age > 4 or breed == 'tabby')", false],
    ["((type=='cat'))", true],
    ["*", true],
    [" * ", true],
    ["nothing == 1", false],
    ["nothing != 1", true],
    ["nothing < 1", false],
    ["name == 'it\\'s'", false],
    ["toString == 'x'", false],
  ])("%s: %s (S2-25)", (selector, matches) => {
    expect(parseSelector(selector).matches(whiskers)).toBe(matches);
  });

  it("can have a keyword as a value (S2-25)", () => {
    expect(parseSelector("type == and or type == or").matches({ type: "and" })).toBe(true);
  });

  it("lists the properties it uses (S2-25)", () => {
    expect(parseSelector("type == 'cat' and (age > 4 or type == 'dog')").properties).toEqual(["type", "age"]);
  });

  it.each<[selector: string, position: number, why: string]>([
    ["", 1, "expected the name of a property, but it ends"],
    ["type", 5, 'expected one of == != < <= > >= contains after "type", but it ends'],
    ["type = 'cat'", 6, 'write "==" for equal'],
    ["type ! 'cat'", 6, 'write "!=" for not equal'],
    ["type is 'cat'", 6, 'expected one of == != < <= > >= contains after "type"'],
    ["type == 'cat", 9, "this quote is not closed"],
    ["type ==", 8, 'expected a value after "==", but it ends'],
    ["type == 'cat' age > 4", 15, 'expected "and", "or" or the end, not "age"'],
    ["(type == 'cat'", 15, 'a ")" is missing, but it ends'],
    ["type == 'cat')", 14, 'expected "and", "or" or the end, not ")"'],
    ["'type' == 'cat'", 1, "expected the name of a property"],
    ["type == 'cat' and", 18, "expected the name of a property, but it ends"],
  ])("%j is refused with the position and the reason (S2-25)", (selector, position, why) => {
    expect(() => parseSelector(selector)).toThrow(SelectorError);
    expect(() => parseSelector(selector)).toThrow(`at position ${position}, ${why}`);
  });

  it("is refused quickly if it is too long or too deep (S2-25)", () => {
    expect(() => parseSelector(`a == '${"x".repeat(3000)}'`)).toThrow("at most 2000 characters");
    expect(() => parseSelector("(".repeat(900))).toThrow("too many nested parentheses");
    const long = Array.from({ length: 100 }, (_, n) => `(a${n} == ${n})`).join(" or ");
    expect(parseSelector(long.slice(0, 1500).replace(/ or [^)]*$/, "")).matches({ a3: 3 })).toBe(true);
  });
});

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const quote = (value: string) => `'${value.replace(/[\\']/g, "\\$&")}'`;
const properties = fc.constantFrom("a", "b", "type");
type Tree = { readonly source: string; test(given: { readonly [name: string]: string }): boolean };
const equalsIgnoringCase = (left: string | undefined, right: string) =>
  left?.toLowerCase() === right.toLowerCase();

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    fc.tuple(properties, fc.constantFrom("==", "!="), text).map(([property, sign, value]): Tree => {
      return {
        source: `${property} ${sign} ${quote(value)}`,
        test: (given) => equalsIgnoringCase(given[property], value) === (sign === "=="),
      };
    }),
    fc.tuple(tie("tree"), fc.constantFrom("and", "or"), tie("tree")).map(([left, joint, right]): Tree => {
      return {
        source: `(${left.source}) ${joint} (${right.source})`,
        test: (given) =>
          joint === "and" ? left.test(given) && right.test(given) : left.test(given) || right.test(given),
      };
    }),
  ),
}));

describe("random selectors", () => {
  it("evaluate like the tree they were generated from (S2-25)", () => {
    fc.assert(
      fc.property(
        tree,
        fc.dictionary(properties, text, { noNullPrototype: true }),
        ({ source, test }, given) => {
          fc.pre(source.length <= 2000);
          expect(parseSelector(source).matches(given)).toBe(test(given));
        },
      ),
    );
  });

  it("are parsed or refused with a position, whatever the text (S2-25)", () => {
    const pieces = fc.constantFrom(
      "type",
      "==",
      "=",
      "!",
      "<",
      "(",
      ")",
      "'",
      '"',
      "and",
      "or",
      "contains",
      "5",
      " ",
      "\\",
      "é",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
        const source = parts.join("");
        try {
          expect(typeof parseSelector(source).matches({ type: "cat" })).toBe("boolean");
        } catch (error) {
          expect(error).toBeInstanceOf(SelectorError);
          const place = Number(/at position (\d+)/.exec(String(error))?.[1]);
          expect(place).toBeGreaterThanOrEqual(1);
          expect(place).toBeLessThanOrEqual(source.length + 1);
        }
      }),
    );
  });
});
