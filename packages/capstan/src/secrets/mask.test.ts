import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../base/json.ts";
import type { FactBody } from "../kernel/event.ts";
import { createMask } from "./mask.ts";
import { maskSecrets } from "./mask-secrets.ts";
import { listSecretForms } from "./secret-forms.ts";

const key = "sk-live/7f+Qz=9-canary";
const made = (...secrets: string[]) => createMask(secrets);

describe("the masking of a run", () => {
  it("is cached per set of secrets", () => {
    expect(createMask([key])).toBe(createMask([key]));
    expect(createMask([key])).not.toBe(createMask([key, "another-1"]));
  });

  it("caches a limited number of sets of secrets", () => {
    const first = createMask(["first-secret"]);
    for (let number = 0; number < 40; number++) createMask([`secret-of-user-${number}`]);
    expect(createMask(["first-secret"])).not.toBe(first);
  });

  it("masks any text as `maskSecrets` does (A110, A111)", () => {
    const secrets = fc.array(
      fc.string({ unit: fc.constantFrom("a", "b", "^", "]", "\\", "\n", "ä"), minLength: 6, maxLength: 9 }),
      { minLength: 1, maxLength: 3 },
    );
    const planted = secrets.chain((list) => {
      const some = fc.constantFrom(...list.flatMap((secret) => [...listSecretForms(secret)]));
      const texts = fc.array(fc.oneof(some, fc.string({ maxLength: 5 })), { maxLength: 6 });
      return fc.tuple(fc.constant(list), texts);
    });
    fc.assert(
      fc.property(planted, ([list, texts]) => {
        expect(made(...list).text(texts.join(""))).toBe(maskSecrets(list)(texts.join("")));
      }),
    );
  });

  it.each([
    ["at its end", `x ${key.slice(0, 15)}`, "x ***"],
    ["before a mark", `x ${key.slice(0, 15)}… (5 more characters)`, "x ***… (5 more characters)"],
    ["before three dots", `x ${key.slice(0, 15)}…`, "x ***…"],
    ["after a whole one", `${key} ${key.slice(0, 12)}…`, "*** ***…"],
    ["in hex", Buffer.from(key).toString("hex").slice(0, 30), "***"],
  ])("masks half of a secret in a truncated text: %s (F44, A112)", (_where, text, shown) => {
    expect(made(key).cutText(text)).toBe(shown);
  });

  it("keeps less than half of a secret, and texts that only look truncated", () => {
    const { cutText, text } = made(key);
    for (const said of ["sk-live", `${key.slice(0, 15)} and more`, "sk-… (9 more characters)", "(sk-live)"])
      expect(cutText(said)).toBe(said);
    expect(text(key.slice(0, 15))).toBe(key.slice(0, 15));
  });
});

describe("a masked value", () => {
  it("contains no secret in strings, keys or numbers (A110)", () => {
    const { value } = made(key, "31415926");
    expect(value({ [`a ${key}`]: [key, { pin: 31415926, big: 1314159265, ok: 1 }], n: null })).toEqual({
      "a ***": ["***", { pin: "***", big: "1***5", ok: 1 }],
      n: null,
    });
  });

  it("is the same object if it contains no secret, also within a changed one", () => {
    const { value } = made(key);
    const plain = { list: [1, "two", { three: true }], text: "sk-live" };
    expect(value(plain)).toBe(plain);
    expect(value({ plain, key }).plain).toBe(plain);
  });

  it("is plain data: other values become the JSON that would be stored (A110)", () => {
    class Secretive {
      toJSON() {
        return { token: key };
      }
    }
    const { value } = made(key);
    const looped: Record<string, unknown> = {};
    looped.self = looped;
    expect(value({ a: new Secretive(), b: new Date(0) })).toEqual({
      a: { token: "***" },
      b: "1970-01-01T00:00:00.000Z",
    });
    expect(JSON.stringify(value(looped))).toContain("[not JSON]");
  });

  it("has its own key __proto__ and no other prototype (A117)", () => {
    const value = made(key).value(JSON.parse(`{"__proto__":{"x":"${key}"}}`));
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"x":"***"}}');
  });

  it("may be deep", () => {
    const deep = JSON.parse(`${"[".repeat(3000)}"${key}"${"]".repeat(3000)}`);
    expect(JSON.stringify(made(key).value(deep))).not.toContain("canary");
  });
});

describe("a masked fact", () => {
  const usage = { inputTokens: 1, outputTokens: 1 };
  const message = (parts: readonly object[], more: object = {}) =>
    ({
      ...{ type: "message", entry: { type: "assistant", parts }, model: "m", usage, ms: 123456 },
      ...{ stopReason: "end", ...more },
    }) as FactBody;

  it("keeps ids and our vocabulary, whatever the secrets are (A110)", () => {
    const secrets = ["message", "assistant", "call_1", "weather", "offered", "bad_arguments", "123456"];
    const call = { type: "call", id: "call_1", name: "weather", input: { city: "weather in call_1" } };
    const checks = { call_1: { error: { code: "bad_arguments", message: "message", retryable: false } } };
    expect(made(...secrets).fact(message([call], { checks }))).toEqual(
      message([{ ...call, input: { city: "*** in ***" } }], {
        checks: { call_1: { error: { code: "bad_arguments", message: "***", retryable: false } } },
      }),
    );
  });

  it("changes opaque provider data only if it contains a secret (A110)", () => {
    const signed = { type: "reasoning", text: "Hm", opaque: { wire: "w", data: { signature: "abc" } } };
    const leaky = { type: "opaque", data: { item: `x${key}` } };
    const fact = message([signed, leaky]);
    const masked = made(key).fact(fact);
    expect(masked).toEqual(message([signed, { type: "opaque", data: { item: "x***" } }]));
    expect((masked as typeof fact & { entry: { parts: unknown[] } }).entry.parts[0]).toBe(signed);
  });

  it("contains no secret that spans two text parts (A111)", () => {
    const halves = [key.slice(0, 9), key.slice(9)].map((text) => ({ type: "text", text }));
    const call = { type: "call", id: "c", name: "t", input: {} };
    const parts = [halves[0], call, halves[1]] as object[];
    expect(made(key).fact(message(parts))).toEqual(
      message([{ type: "text", text: "" }, call, { type: "text", text: "***" }]),
    );
  });

  it("is the same object without a secret", () => {
    const fact = message([{ type: "text", text: "sk-live" }]);
    expect(made(key).fact(fact)).toBe(fact);
  });

  it("contains no half of a secret where a message was truncated (A111)", () => {
    const said = [{ type: "text", text: `It is ${key.slice(0, 18)}` }];
    expect(made(key).fact(message(said, { stopReason: "aborted" }))).toEqual(
      message([{ type: "text", text: "It is ***" }], { stopReason: "aborted" }),
    );
    expect(made(key).fact(message(said))).toEqual(message(said));
  });

  it("masks the answer of a run as data (A110)", () => {
    const done = (output: Json): FactBody => ({
      ...{ type: "done", status: "done", text: "Ok.", usage, cost: 0, grounded: true, output },
    });
    expect(made(key).fact(done({ [key]: { type: key } }))).toEqual(done({ "***": { type: "***" } }));
  });

  it("masks error codes of tools, but not ours", () => {
    const failed = (code: string) =>
      ({ type: "error", code, message: "no", retryable: false }) as const satisfies FactBody;
    const { fact } = made("canary-code", "tool_failed");
    expect(fact(failed("E-canary-code"))).toEqual(failed("E-***"));
    expect(fact(failed("tool_failed"))).toEqual(failed("tool_failed"));
  });
});
