import fc from "fast-check";
import { expect, it } from "vitest";
import { parseJson } from "./parse-json.ts";

function parseWith(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

it("returns the same value as JSON.parse for all input within the limits (A89)", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 2, "\t"), (value, space) => {
      const text = JSON.stringify(value, null, space);
      if (text.includes("__proto__") || text.includes("prototype")) return;
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

const piece = fc.constantFrom(...'{}[]:,"\\ue1n0-. \n', '"a"', '"b":', "null", '\\"', '"\\u0061":', "{", '"');

it("takes nothing that is not JSON (A89)", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      let mine: unknown;
      try {
        mine = parseJson(text);
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: "invalid_input" });
        return;
      }
      expect(mine).toEqual(parseWith(text));
    }),
    { numRuns: 3000 },
  );
});

const key = fc.oneof(fc.constantFrom("a", "b", '"', "\\", "é"), fc.string({ maxLength: 3 }));
const escapeText = (text: string) =>
  `"${[...text].map((one) => [...Array(one.length).keys()].map((at) => `\\u${one.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")).join("")}"`;

it("detects a duplicate key in any spelling (A89)", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.boolean()), { maxLength: 6 }), (keys) => {
      const written = keys.map(([name, isEscaped]) => (isEscaped ? escapeText(name) : JSON.stringify(name)));
      const text = `[{${written.map((name) => `${name}:{}`).join(",")}}]`;
      const isTwice = new Set(keys.map(([name]) => name)).size < keys.length;
      if (isTwice) expect(() => parseJson(text)).toThrow("twice");
      else expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

it.each([
  ['{"a":1,"b":2,"a":3}', "twice"],
  ['{"a":1,"\\u0061":3}', "twice"],
  ['[{"x":{"a":1,"a":3}}]', "twice"],
  ['{"__proto__":{"isAdmin":true}}', "__proto__"],
  ['{"a":[{"\\u005f_proto__":1}]}', "__proto__"],
  ['{"constructor":{"prototype":{"isAdmin":true}}}', "prototype"],
  ['{"constructor" : { "x":[{}], "prototype":1}}', "prototype"],
])("refuses %s (A89)", (text, word) => {
  expect(() => parseJson(text)).toThrow(word);
});

it("accepts the same key in another object, and strings that look like it (A89)", () => {
  const text = '{"a":{"a":["a","a"],"b":"\\",\\"a\\":1"},"c":{"a":1},"constructor":"x","prototype":"y"}';
  expect(parseJson(text)).toEqual(JSON.parse(text));
  expect(parseJson('{"x":{"constructor":[{"prototype":1}]}}')).toBeDefined();
});

it("refuses input that is too deep or too large before parsing, and names the limit (A89, A115)", () => {
  expect(() => parseJson("[".repeat(65) + "]".repeat(65))).toThrow("64 levels");
  expect(() => parseJson('{"a":'.repeat(100_000))).toThrow("64 levels");
  expect(parseJson("[".repeat(64) + "]".repeat(64))).toBeDefined();
  expect(() => parseJson(`[${"0,".repeat(100_000)}0]`)).toThrow("100000 items");
  const keys = Array.from({ length: 100_001 }, (_, index) => `"k${index}":0`).join(",");
  expect(() => parseJson(`{${keys}}`)).toThrow("100000 items");
});
