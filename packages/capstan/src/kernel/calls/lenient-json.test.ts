import { existsSync, globSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../../base/json.ts";
import { readCpuMs } from "../../testing/cpu-time.ts";
import { type JsonDamage, stringifyDamaged } from "../../testing/damaged-json.ts";
import { parseLenient } from "./lenient-json.ts";

/** JSON objects and lists. */
const containers = fc
  .oneof(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), fc.array(fc.jsonValue({ maxDepth: 4 })))
  .map((value) => JSON.parse(JSON.stringify(value)) as Json);

const smallContainers = fc
  .dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1, stringUnit: "binary" }), {
    maxKeys: 3,
  })
  .map((value) => JSON.parse(JSON.stringify(value)) as Json)
  .filter((value) => JSON.stringify(value).length < 150);

const damages: fc.Arbitrary<JsonDamage> = fc.record({
  quote: fc.constantFrom('"' as const, "'" as const, "“" as const),
  bareKeys: fc.boolean(),
  python: fc.boolean(),
  trailingCommas: fc.boolean(),
  comment: fc.constantFrom("", " ", "\n", "// so\n", "/* a } ] ' \" ` */"),
  rawBreaks: fc.boolean(),
  fence: fc.constantFrom(undefined, "```", "```json\n", "```JSON "),
  byteOrderMark: fc.boolean(),
});

describe("lenient JSON", () => {
  it("parses all JSON like JSON.parse, without repairs (S1-09)", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parseLenient(text)).toEqual({ value: JSON.parse(text), repairs: [] });
      }),
    );
  });

  it("agrees with JSON.parse on valid texts, also with one character more or less", () => {
    const noise = fc.array(fc.constantFrom(..."{}[]\",:'0123.-+eE \n\\utrfn/x"), { maxLength: 12 });
    fc.assert(
      fc.property(noise, (characters) => {
        const text = characters.join("");
        let strict: unknown;
        try {
          strict = JSON.parse(text);
        } catch {
          return;
        }
        expect(parseLenient(text)).toEqual({ value: strict, repairs: [] });
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["a code fence", '```json\n{"a":1}\n```', { a: 1 }, "removed a code fence"],
    ["a code fence on one line", ' ```{"a":1}``` \n', { a: 1 }, "removed a code fence"],
    ["trailing commas", '{"a":[1,2,],}', { a: [1, 2] }, "removed trailing commas"],
    ["single quotes", `{'a':'say "hi", it\\'s'}`, { a: 'say "hi", it\'s' }, "read single quotes"],
    ["keys without quotes", "{a_1:1,$b:2}", { a_1: 1, $b: 2 }, "quoted keys"],
    [
      "Python's words",
      '{"a":True,"b":[False,None]}',
      { a: true, b: [false, null] },
      "read Python's True, False and None",
    ],
    ["line comments", '{"a":1 // one\n} // done', { a: 1 }, "removed comments"],
    ["block comments", '/**/{/* {"b":2} */"a":/***/1}', { a: 1 }, "removed comments"],
    [
      "raw line breaks and tabs",
      '{"a":"1\n2\r\n\t3"}',
      { a: "1\n2\r\n\t3" },
      "read raw line breaks and tabs in strings",
    ],
    ["smart quotes", "{“a”:‘it’,”b”:“c”}", { a: "it", b: "c" }, "read smart quotes"],
    ["a byte order mark", '\uFEFF{"a":1}', { a: 1 }, "removed a byte order mark"],
  ])("repairs %s and says so", (_what, text, value, repair) => {
    expect(parseLenient(text)).toEqual({ value, repairs: [repair] });
  });

  it("does not repair the content of strings", () => {
    const value = { a: "// no, True, 'x',] ```", "b “c”": "/* */ {d:1,}" };
    expect(parseLenient(JSON.stringify(value))).toEqual({ value, repairs: [] });
  });

  it.each([
    ...['{"a": }', '{"a"}', "{,}", '{"a":1 "b":2}', "[1 2]", "[,]", "[1,,2]", "[1,,]", '{"a":1,,}', "{:1}"],
    ...[
      "",
      " ",
      "\uFEFF",
      "```",
      "``````",
      "```json\n```",
      "// x",
      "/* x */",
      '{"a":1}}',
      "{} {}",
      '{"a":1},',
    ],
    ...['{"a":1', '{"a":"x', '{"a":[1}', '["a]', "['a\"]", "{'a\": 1}", "/* {}", '{"a":1} /* x', '{"a":1} /'],
    ...['```json\n{"a":1}', '```json\n{"a":1}\n``', '{"a":1}\n```', 'Here: {"a":1}', '```{"a":1}``` so'],
    ...["{a b:1}", "{a-b:1}", "{1:2}", "{True:1}", "{null:1}", "{é:1}", "{'a':1 'b':2}"],
    ...[
      "NaN",
      "Infinity",
      "-",
      "+1",
      "01",
      "1.",
      ".5",
      "1e",
      "0x10",
      "1_000",
      "undefined",
      "TRUE",
      "tru",
      "nul",
    ],
    ...[
      '"\\x41"',
      '"\\\'"',
      '"\\u12"',
      '"a\u0001b"',
      '"a" "b"',
      '{“a": 1, “b”: 2}',
      "{‘a': 1, 'b’: 2}",
      "‘don’t’",
    ],
    ...["# x\n{}", "{a=1}", "(1)", "a: 1", "None1", "\u00a0{}"],
  ])("refuses %j: it is not certain what it means (S1-09)", (text) => {
    expect(parseLenient(text)).toBeUndefined();
  });

  it("uses the last of duplicate keys and accepts any key name (F33, A117, A118)", () => {
    expect(parseLenient("{\"a\":1,'a':2}")?.value).toEqual({ a: 2 });
    const { value } = parseLenient('{__proto__:{"x":1},constructor:2}') ?? {};
    expect(Object.keys(value as object)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it("parses 64 levels and no more (F33)", () => {
    const nested = (levels: number) => `${"[".repeat(levels)}1,${"]".repeat(levels)}`;
    expect(parseLenient(nested(64).replace(",", ""))?.repairs).toEqual([]);
    expect(parseLenient(nested(65))).toBeUndefined();
    expect(parseLenient("[".repeat(1_000_000))).toBeUndefined();
    expect(parseLenient('{"a":'.repeat(200_000))).toBeUndefined();
  });

  it.each([
    ["escapes", `["${"\\n\\u0041".repeat(100_000)}",]`],
    ["comments", `[${"/**/ //\n".repeat(100_000)}1]`],
    ["line breaks", `["${"\n".repeat(900_000)}"]`],
    ["spaces", `${" ".repeat(900_000)}[1,]`],
    ["commas", `[${"1,".repeat(400_000)}]`],
    ["keys", `{${Array.from({ length: 100_000 }, (_, index) => `k${index}:1,`).join("")}}`],
    ["stars", `/${"*".repeat(900_000)}`],
    ["backticks", `${"`".repeat(900_000)}`],
  ])("takes linear time: %s (F33)", (_what, text) => {
    const begin = readCpuMs();
    parseLenient(text);
    expect(readCpuMs() - begin).toBeLessThan(2_000);
  });
});

describe("damaged JSON", () => {
  it("is parsed to the original value", () => {
    fc.assert(
      fc.property(containers, damages, (value, how) => {
        expect(parseLenient(stringifyDamaged(value, how))?.value).toEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  it("is never taken for complete when truncated: a prefix gives the same value or none (S1-09)", () => {
    fc.assert(
      fc.property(smallContainers, damages, (value, how) => {
        const text = stringifyDamaged(value, how);
        for (let length = 0; length < text.length; length++) {
          const read = parseLenient(text.slice(0, length));
          if (read) expect(read.value).toEqual(value);
        }
      }),
      { numRuns: 300 },
    );
  });
});

const wire = new URL("../../../../../../shared/wire/", import.meta.url);

describe.skipIf(!existsSync(wire))("recorded arguments", () => {
  const texts = existsSync(wire) ? loadRecordedArguments() : [];

  it("exist and are parsed like JSON.parse (S1-09)", () => {
    expect(texts.length).toBeGreaterThan(50);
    for (const text of texts) expect(parseLenient(text)).toEqual({ value: JSON.parse(text), repairs: [] });
  });

  it("are never taken for complete at any cut unless JSON does, damaged or not (S1-09)", () => {
    const how = { quote: "'", bareKeys: true, python: true, trailingCommas: true, comment: " " } as const;
    for (const text of texts) {
      const value: Json = JSON.parse(text);
      const damaged = stringifyDamaged(value, {
        ...how,
        rawBreaks: true,
        fence: "```json\n",
        byteOrderMark: true,
      });
      expect(parseLenient(damaged)?.value).toEqual(value);
      for (let length = 0; length < damaged.length; length++)
        expect(parseLenient(damaged.slice(0, length))).toBeUndefined();
      for (let length = 0; length < text.length; length++) {
        const cut = text.slice(0, length);
        if (!isJson(cut)) expect(parseLenient(cut)).toBeUndefined();
      }
    }
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Every argument text in the recordings, as sent or rebuilt from the parsed form. */
function loadRecordedArguments(): string[] {
  const texts = new Set<string>();
  const collect = (value: unknown, name: string): void => {
    if (typeof value === "string" && name === "arguments" && value !== "") texts.add(value);
    if (typeof value !== "object" || value === null) return;
    if ((name === "input" || name === "args") && !Array.isArray(value)) texts.add(JSON.stringify(value));
    for (const [key, member] of Object.entries(value)) collect(member, key);
  };
  for (const file of globSync(["expected-from-vendor-sdks.json", "{langchain,openllmetry}/**/*.json"], {
    cwd: wire,
  }))
    collect(JSON.parse(readFileSync(new URL(file, wire), "utf8")), "");
  return [...texts].filter(isJson);
}
