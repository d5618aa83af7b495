import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toJson } from "./to-json.ts";

const measureJson = (value: unknown): number => JSON.stringify(value).length;

function throwError(message: string): never {
  throw new Error(message);
}

function createRevokedProxy(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

class Point {
  x = 1;
  #hidden = 2;
  get sum() {
    return this.x + this.#hidden;
  }
}

/** `levels` nested arrays. */
function nestArrays(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level += 1) value = [value];
  return value;
}

const anything = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
  withUnicodeString: true,
});

/** Values that `fc.anything` does not generate. */
const awkward: readonly unknown[] = [
  Symbol("s"),
  Symbol(),
  throwError,
  class {},
  new Date(Number.NaN),
  new Error("no", { cause: new Error("why", { cause: 5 }) }),
  createRevokedProxy({}),
  createRevokedProxy([]),
  createRevokedProxy(() => undefined),
  new Proxy([], { get: () => throwError("get") }),
  new Proxy({}, { ownKeys: () => throwError("ownKeys") }),
  new Proxy({}, { getPrototypeOf: () => throwError("getPrototypeOf") }),
  new Proxy([], { get: () => Number.NaN }),
  new Proxy(new Map(), {}),
  Object.create(Date.prototype),
  Object.create(Set.prototype),
  new Array(1000),
  "\ud800".repeat(50),
  "\u0000".repeat(500),
  { "\udfff": 1, "\udffe": 2 },
  nestArrays(5000),
];

/** Values in functions, because fast-check itself fails on a revoked proxy. */
const structure = fc.letrec<{ value: () => unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    anything.map((value) => () => value),
    fc.nat({ max: awkward.length - 1 }).map((index) => () => awkward[index]),
    fc.array(tie("value")).map((items) => () => items.map((item) => item())),
    fc.array(tie("value")).map((items) => () => new Set(items.map((item) => item()))),
    fc
      .array(
        fc.tuple(
          fc.oneof(
            fc.string().map((key) => () => key),
            tie("value"),
          ),
          tie("value"),
        ),
      )
      .map((pairs) => () => new Map(pairs.map(([key, value]) => [key(), value()]))),
    fc
      .dictionary(fc.string(), tie("value"))
      .map(
        (members) => () =>
          Object.fromEntries(Object.entries(members).map(([key, member]) => [key, member()])),
      ),
  ),
})).value;

describe("any value becomes JSON", () => {
  it("never throws, and the JSON text is within the limit (F48, F49, F51, F52)", () => {
    fc.assert(
      fc.property(structure, fc.integer({ min: 1, max: 2000 }), (value, characters) => {
        expect(measureJson(toJson(value(), { characters }))).toBeLessThanOrEqual(characters);
      }),
      { numRuns: 1000 },
    );
  });

  it("does not change JSON, including its own output (F49)", () => {
    fc.assert(
      fc.property(structure, (value) => {
        const json = toJson(value());
        const written = JSON.stringify(json);
        expect(JSON.stringify(toJson(json))).toBe(written);
        expect(JSON.stringify(JSON.parse(written))).toBe(written);
      }),
    );
  });

  it("matches JSON.stringify for values it supports (F49)", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "grapheme" }), (value) => {
        expect(JSON.stringify(toJson(value))).toBe(JSON.stringify(value));
      }),
    );
  });

  it.each<[what: string, value: unknown, json: unknown]>([
    ["text", "a", "a"],
    ["null", null, null],
    ["a bigint", 2n ** 80n, "1208925819614629174706176"],
    ["NaN", Number.NaN, "NaN"],
    ["Infinity", Number.POSITIVE_INFINITY, "Infinity"],
    ["-Infinity", Number.NEGATIVE_INFINITY, "-Infinity"],
    ["undefined", undefined, null],
    ["undefined in an array", [undefined], [null]],
    ["undefined in an object", { a: undefined, b: 1 }, { b: 1 }],
    ["a symbol", Symbol("x"), "[Symbol x]"],
    ["a symbol without a name", Symbol(), "[Symbol]"],
    ["a function", throwError, "[Function throwError]"],
    [
      "a function without a name",
      (
        () => () =>
          undefined
      )(),
      "[Function]",
    ],
    ["a class", Point, "[Function Point]"],
    ["an instance", new Point(), { x: 1 }],
    ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
    ["no date", new Date(Number.NaN), "[Invalid Date]"],
    ["a pattern", /a/g, "/a/g"],
    ["a boxed text", Object("a"), "a"],
    ["a boxed bigint", Object(5n), "5"],
    ["a map with names", new Map([["a", new Map([["b", 1]])]]), { a: { b: 1 } }],
    [
      "a map with other keys",
      new Map<unknown, unknown>([
        ["a", 1],
        [2, { b: 3 }],
      ]),
      [
        ["a", 1],
        [2, { b: 3 }],
      ],
    ],
    ["a set", new Set([1, "a"]), [1, "a"]],
    ["bytes", new Uint8Array(3), "[binary 3 bytes]"],
    ["a buffer", new ArrayBuffer(4), "[binary 4 bytes]"],
    ["numbers in memory", new Float64Array(2), "[binary 16 bytes]"],
    // biome-ignore lint/suspicious/noSparseArray: holes are the point
    ["a sparse array", [1, , 3], [1, null, 3]],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ["a URL, by its toJSON", new URL("https://example.com"), "https://example.com/"],
    ["half a surrogate pair", "a\ud800b", "a\ufffdb"],
    ["half a surrogate pair in a key", { "\ud800": 1 }, { "\ufffd": 1 }],
  ])("%s (F49)", (_what, value, json) => {
    expect(toJson(value)).toEqual(json);
  });

  it("turns -0 into 0 (F49)", () => {
    expect(Object.is(toJson(-0), 0)).toBe(true);
  });

  it("includes an error's name, message and cause, but no further causes and no stack (F49)", () => {
    const error = new TypeError("bad", { cause: new Error("why", { cause: "deeper" }) });
    expect(toJson(error)).toEqual({
      name: "TypeError",
      message: "bad",
      cause: { name: "Error", message: "why" },
    });
  });

  it("keeps a key named __proto__ as data and changes no prototype (F49)", () => {
    const json = toJson(JSON.parse('{"__proto__":{"admin":true}}'));
    expect(Object.getPrototypeOf(json)).toBe(Object.prototype);
    expect(JSON.stringify(json)).toBe('{"__proto__":{"admin":true}}');
    expect(toJson(new Map([["__proto__", 1]]))).toEqual(JSON.parse('{"__proto__":1}'));
  });
});

describe("a value that cannot be converted is replaced by a note", () => {
  it("a circular object, but not one that appears twice (F48)", () => {
    const twice = { a: 1 };
    const circular: Record<string, unknown> = { twice, again: [twice], map: new Map() };
    circular.self = circular;
    (circular.map as Map<string, unknown>).set("up", [circular]);
    expect(toJson(circular)).toEqual({
      twice: { a: 1 },
      again: [{ a: 1 }],
      map: { up: ["[Circular]"] },
      self: "[Circular]",
    });
  });

  it.each<[what: string, value: unknown]>([
    ["a getter", Object.defineProperty({}, "x", { enumerable: true, get: () => throwError("no") })],
    ["a toJSON", { x: { toJSON: () => throwError("no") } }],
    ["the keys of a proxy", { x: new Proxy({}, { ownKeys: () => throwError("no") }) }],
    ["the value behind a key of a proxy", { x: new Proxy({ toJSON: 1 }, { get: () => throwError("no") }) }],
    ["the prototype of a proxy", { x: new Proxy({}, { getPrototypeOf: () => throwError("no") }) }],
  ])("%s that throws, and what is beside it stays (F51)", (_what, value) => {
    expect(toJson([value, { y: 1 }])).toEqual([{ x: "[Threw: no]" }, { y: 1 }]);
  });

  it("a revoked proxy (F51)", () => {
    expect(toJson([createRevokedProxy({}), 1])).toEqual([expect.stringMatching(/^\[Threw: .*revoked\]$/), 1]);
  });

  it("a toJSON that returns itself or endless new objects (F51)", () => {
    const endless = () => ({ toJSON: endless });
    const itself = {
      a: 1,
      toJSON() {
        return this;
      },
    };
    expect(toJson([itself, endless()])).toEqual([{ a: 1, toJSON: "[Function toJSON]" }, "[Deeper than 64]"]);
  });

  it("5,000 levels of nesting, after the 64th (F52)", () => {
    const json = JSON.stringify(toJson(nestArrays(5000)));
    expect(json).toBe(`${"[".repeat(64)}"[Deeper than 64]"${"]".repeat(64)}`);
    expect(toJson(nestArrays(64))).toEqual(nestArrays(64));
    expect(toJson([[1]], { depth: 1 })).toEqual(["[Deeper than 1]"]);
  });

  it("at any depth limit (F52)", () => {
    expect(() => JSON.stringify(toJson(nestArrays(100_000), { depth: 1e9 }))).not.toThrow();
  });
});

describe("a value that is too large is truncated and notes how much is missing", () => {
  it("a text of 100 MB, without copying it (F47)", () => {
    const text = Buffer.alloc(100_000_000, "x").toString("latin1");
    const before = process.memoryUsage().heapUsed;
    const json = toJson({ text, after: 1 }) as { text: string };
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(30_000_000);
    expect(measureJson(json)).toBeLessThanOrEqual(2_000_000);
    expect(measureJson(json)).toBeGreaterThan(1_999_900);
    expect(json.text.slice(-40)).toMatch(/^x+… \(98,000,\d{3} more characters\)$/);
    expect(json).toMatchObject({ "…": "1 of 2 keys shown" });
  });

  it("a text, measured in JSON characters, never inside a surrogate pair (F49)", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", minLength: 60 }),
        fc.integer({ min: 40, max: 60 }),
        (text, characters) => {
          const json = toJson(text, { characters }) as string;
          expect(measureJson(json)).toBeLessThanOrEqual(characters);
          const [, head = "", missing = ""] = /^(.*)… \((\d+) more characters\)$/s.exec(json) ?? [];
          expect(text.startsWith(head)).toBe(true);
          expect(head.length + Number(missing)).toBe(text.length);
          expect(head.isWellFormed()).toBe(true);
        },
      ),
    );
  });

  it("an array of ten million items, without visiting them all (F47)", () => {
    const items = new Array(10_000_000).fill(7);
    let reads = 0;
    const counting = new Proxy(items, {
      get(target, key) {
        reads += 1;
        return Reflect.get(target, key);
      },
    });
    const json = toJson(counting, { characters: 1000 }) as unknown[];
    expect(json.at(-1)).toBe(`… ${json.length - 1} of 10,000,000 items shown`);
    expect(json.length).toBeGreaterThan(450);
    expect(reads).toBeLessThan(600);
  });

  it("an array of a billion holes (F47, F49)", () => {
    const json = toJson(new Array(1e9), { characters: 100 }) as unknown[];
    expect(json.slice(0, 2)).toEqual([null, null]);
    expect(json.at(-1)).toMatch(/^… \d+ of 1,000,000,000 items shown$/);
  });

  it("a map and a set of a million, and an object of a thousand keys (F47)", () => {
    const numbers = Array.from({ length: 1_000_000 }, (_, index) => index);
    expect((toJson(new Set(numbers), { characters: 200 }) as unknown[]).at(-1)).toMatch(
      /^… \d+ of 1,000,000 items shown$/,
    );
    const pairs = numbers.map((index) => [`k${index}`, index] as const);
    expect(toJson(new Map(pairs), { characters: 200 })).toMatchObject({
      k0: 0,
      "…": expect.stringMatching(/^\d+ of 1,000,000 keys shown$/),
    });
    expect(toJson(Object.fromEntries(pairs.slice(0, 1000)), { characters: 200 })).toMatchObject({
      k0: 0,
      "…": expect.stringMatching(/^\d+ of 1,000 keys shown$/),
    });
  });

  it("a small object that contains itself a billion times over (F47)", () => {
    let laughs: unknown = "ha";
    for (let level = 0; level < 30; level += 1) laughs = [laughs, laughs];
    expect(measureJson(toJson(laughs, { characters: 10_000 }))).toBeLessThanOrEqual(10_000);
  });

  it("every array and object around a truncated value", () => {
    const long = "x".repeat(300);
    expect(toJson({ rows: [{ long }, { long }], long, total: 2 }, { characters: 220 })).toEqual({
      rows: [{ long: expect.stringMatching(/^x+… \(\d+ more characters\)$/) }, "… 1 of 2 items shown"],
      "…": "1 of 3 keys shown",
    });
  });
});
