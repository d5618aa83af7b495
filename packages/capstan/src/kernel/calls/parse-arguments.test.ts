import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseArguments } from "./parse-arguments.ts";

const buildNestedJson = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

describe("the arguments of a call", () => {
  it.each(["", " ", "\n\t "])("are {} when the text is %j (S1-29, F31)", (text) => {
    expect(parseArguments(text)).toEqual({ ok: true, input: {} });
  });

  it("are the parsed object (S3-14)", () => {
    expect(parseArguments(' {"city":"Oslo","days":[1,2]} ')).toEqual({
      ok: true,
      input: { city: "Oslo", days: [1, 2] },
    });
  });

  it("can be any JSON object in any formatting (S3-14)", () => {
    const object = fc.dictionary(
      fc.string().filter((key) => key !== "__proto__"),
      fc.jsonValue({ maxDepth: 8, noUnicodeString: false }),
    );
    fc.assert(
      fc.property(object, fc.nat(3), (value, indent) => {
        fc.pre(!JSON.stringify(value).includes('"__proto__":'));
        const text = JSON.stringify(value, null, indent);
        expect(parseArguments(text)).toEqual({ ok: true, input: JSON.parse(text) });
      }),
    );
  });

  it.each([
    ["an array", "[1]", "they must be a JSON object, not an array"],
    ["a text", '"Oslo"', "they must be a JSON object, not a string"],
    ["a number", "5", "they must be a JSON object, not a number"],
    ["a boolean", "true", "they must be a JSON object, not a boolean"],
    ["null", "null", "they must be a JSON object, not null"],
  ])("are refused when they are %s (F32)", (_what, text, problem) => {
    expect(parseArguments(text)).toEqual({ ok: false, problem });
  });

  it.each([
    '{"city":"Os',
    "{city:1}",
    "{} {}",
    "undefined",
    "{'a':1}",
  ])("are refused when they are broken: %s (S1-28)", (text) => {
    expect(parseArguments(text)).toEqual({
      ok: false,
      problem: expect.stringMatching(/^they are not valid JSON \(.+\)$/),
    });
  });

  it("use the last of duplicate keys, like JSON.parse (F33)", () => {
    expect(parseArguments('{"a":1,"a":2}')).toEqual({ ok: true, input: { a: 2 } });
  });

  it.each([
    '{"a":1e999}',
    '{"a":[{"b":-1e999}]}',
  ])("are refused with a number out of range: %s (F33)", (text) => {
    expect(parseArguments(text)).toEqual({ ok: false, problem: "they hold a number too large to represent" });
  });

  it("may be nested 64 levels deep and no deeper (F33)", () => {
    expect(parseArguments(buildNestedJson(64))).toMatchObject({ ok: true });
    expect(parseArguments(buildNestedJson(65))).toEqual({
      ok: false,
      problem: "they are nested deeper than 64 levels",
    });
  });

  it("are refused without recursion when 5,000 levels deep (F33)", () => {
    expect(parseArguments(`{"a":${"[".repeat(5000)}${"]".repeat(5000)}}`)).toEqual({
      ok: false,
      problem: "they are nested deeper than 64 levels",
    });
  });

  it("are refused without parsing when larger than 1,000,000 characters (F33)", () => {
    expect(parseArguments(JSON.stringify({ a: "x".repeat(1_000_000 - 8) }))).toMatchObject({ ok: true });
    expect(parseArguments(JSON.stringify({ a: "x".repeat(10_000_000) }))).toEqual({
      ok: false,
      problem: "they have 10000008 characters; the limit is 1000000",
    });
  });

  it.each([
    '{"__proto__":{"admin":true}}',
    '{"a":[{"__proto__":1}]}',
    '{"\\u005f_proto__":{"admin":true}}',
  ])("are refused with an own __proto__ at any depth: %s (A118)", (text) => {
    expect(parseArguments(text)).toEqual({ ok: false, problem: 'they hold the key "__proto__"' });
  });

  it.each(["constructor", "toString", "hasOwnProperty"])("may have a field named %s (A117)", (name) => {
    expect(parseArguments(`{"${name}":1}`)).toEqual({ ok: true, input: { [name]: 1 } });
  });
});
