import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cloneJson, isRecord, type Json, toCanonicalJson } from "./json.ts";

/** Normalizes -0, which JSON does not have. */
const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);

/** Reverses the key order of every object. */
function reverseKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reverseKeys(member as Json)]),
  );
}

describe("toCanonicalJson", () => {
  it("is equal exactly when the values are deep-equal (S2-61)", () => {
    fc.assert(
      fc.property(json, json, (left, right) => {
        expect(toCanonicalJson(left) === toCanonicalJson(right)).toBe(isDeepStrictEqual(left, right));
      }),
      { numRuns: 500 },
    );
  });

  it("distinguishes values that differ in one place (S2-61)", () => {
    fc.assert(
      fc.property(json, json, json, (base, left, right) => {
        const same = isDeepStrictEqual(left, right);
        expect(toCanonicalJson([base, { at: left }]) === toCanonicalJson([base, { at: right }])).toBe(same);
      }),
    );
  });

  it("does not depend on the order of keys, at any depth", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(toCanonicalJson(reverseKeys(value))).toBe(toCanonicalJson(value));
      }),
    );
  });

  it("is JSON of the same value", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(toCanonicalJson(value))).toEqual(value);
      }),
    );
  });

  it.each<[string, Json, string]>([
    ["sorted keys", { b: 1, a: { d: 2, c: 3 } }, '{"a":{"c":3,"d":2},"b":1}'],
    ["the order of a list", [2, 1, { b: null, a: [] }], '[2,1,{"a":[],"b":null}]'],
    ["an empty object", {}, "{}"],
    ["an empty list", [], "[]"],
    ["text with quotes", 'say "hi"\n', '"say \\"hi\\"\\n"'],
    ["a key that needs quoting", { 'a":1,"b': 2 }, '{"a\\":1,\\"b":2}'],
    ["half a surrogate pair", "\ud83d", '"\\ud83d"'],
  ])("serializes %s", (_what, value, text) => {
    expect(toCanonicalJson(value)).toBe(text);
  });

  it("keeps a member named __proto__", () => {
    expect(toCanonicalJson(JSON.parse('{"b":1,"__proto__":{"x":2}}'))).toBe('{"__proto__":{"x":2},"b":1}');
  });

  it.each<[Json, Json]>([
    [1, "1"],
    [null, "null"],
    [[], {}],
    [
      [1, 2],
      [[1], 2],
    ],
    [{ a: [1] }, { a: { 0: 1 } }],
    ["a,b", ["a", "b"]],
  ])("does not confuse %j with %j (S2-61)", (left, right) => {
    expect(toCanonicalJson(left)).not.toBe(toCanonicalJson(right));
  });
});

describe("isRecord", () => {
  it.each<[unknown, boolean]>([
    [{}, true],
    [Object.create(null), true],
    [[], false],
    [null, false],
    [undefined, false],
    ["text", false],
    [() => 1, false],
  ])("of %o is %s", (value, expected) => {
    expect(isRecord(value)).toBe(expected);
  });
});

describe("cloneJson", () => {
  it("copies any JSON as structuredClone does", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value: unknown = JSON.parse(text);
        expect(cloneJson(value)).toEqual(structuredClone(value));
      }),
    );
  });

  it("shares no object with the original, and keeps __proto__ as a field", () => {
    const value = JSON.parse('{"list":[{"a":1}],"__proto__":{"admin":true}}');
    const copy = cloneJson(value);
    copy.list[0].a = 2;
    expect(value.list).toEqual([{ a: 1 }]);
    expect(JSON.stringify(copy)).toBe('{"list":[{"a":2}],"__proto__":{"admin":true}}');
    expect(copy.admin).toBeUndefined();
  });
});
