import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AgentError, describeThrown, errorCodes, toErrorData } from "./errors.ts";

/** Throws on every access. */
const hostileTraps: ProxyHandler<() => void> = {
  get() {
    throw new Error("get");
  },
  has() {
    throw new Error("has");
  },
  getOwnPropertyDescriptor() {
    throw new Error("getOwnPropertyDescriptor");
  },
  ownKeys() {
    throw new Error("ownKeys");
  },
  getPrototypeOf() {
    throw new Error("getPrototypeOf");
  },
};

function createRevokedProxy<Target extends object>(target: Target): Target {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function withThrowingGetter(key: string, rest: object = {}): object {
  return Object.defineProperty({ ...rest }, key, {
    get() {
      throw new Error(`getter of ${key}`);
    },
  });
}

const unreadable = "Unknown error (an object without a message was thrown)";

describe("describeThrown", () => {
  it.each<[string, unknown, string]>([
    ["an error", new Error("Disk full"), "Disk full"],
    ["an error without a message", new TypeError(""), "TypeError"],
    ["an object with a message", { message: "Plain" }, "Plain"],
    ["a frozen error", Object.freeze(new Error("Cold")), "Cold"],
    ["a text", "no luck", "Unknown error (thrown: no luck)"],
    ["an empty text", "", "Unknown error (thrown: )"],
    ["null", null, "Unknown error (thrown: null)"],
    ["undefined", undefined, "Unknown error (thrown: undefined)"],
    ["a number", 42, "Unknown error (thrown: 42)"],
    ["a bigint", 42n, "Unknown error (thrown: 42)"],
    ["a symbol", Symbol("x"), "Unknown error (thrown: Symbol(x))"],
    ["an empty object", {}, unreadable],
    ["an object without a prototype", Object.create(null), unreadable],
    ["a message that is not a string", { message: { deep: 1 } }, unreadable],
    ["a message getter that throws", withThrowingGetter("message"), unreadable],
    ["a proxy that throws", new Proxy({}, hostileTraps as ProxyHandler<object>), unreadable],
    ["a revoked proxy", createRevokedProxy({}), unreadable],
  ])("returns the message of %s (F43, S0-37)", (_what, thrown, message) => {
    expect(describeThrown(thrown, "tool_failed")).toEqual({ code: "tool_failed", message, retryable: true });
  });

  it.each<[string, unknown]>([
    ["a function whose text throws", Object.assign(() => 1, { toString: () => fail() })],
    ["a proxy of a function that throws", new Proxy(() => undefined, hostileTraps)],
    ["a revoked proxy of a function", createRevokedProxy(() => undefined)],
  ])("never throws itself, not even for %s (F43)", (_what, thrown) => {
    expect(describeThrown(thrown, "tool_failed")).toMatchObject({ code: "tool_failed", retryable: true });
  });

  it("keeps the message when only the getter of the code throws (F43)", () => {
    expect(describeThrown(withThrowingGetter("code", { message: "Still here" }), "tool_failed")).toEqual({
      code: "tool_failed",
      message: "Still here",
      retryable: true,
    });
  });

  it("never throws, whatever is thrown (F43)", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true }), (thrown) => {
        const { code, message, retryable } = describeThrown(thrown, "tool_failed");
        expect([typeof code, typeof message, typeof retryable]).toEqual(["string", "string", "boolean"]);
        expect(message).not.toBe("");
      }),
    );
  });

  it.each<[string, unknown]>([
    ["an error", new Error("m".repeat(5_000_000))],
    ["a text", "m".repeat(5_000_000)],
  ])("truncates the 5 MB message of %s to 4 KB and says so (F44)", (_what, thrown) => {
    const { message } = describeThrown(thrown, "tool_failed");
    expect(message).toMatch(/m… \(49\d{5} more characters\)$/);
    expect(message.length).toBeLessThan(4096 + 40);
  });

  it("does not change a message of 4 KB", () => {
    expect(describeThrown(new Error("m".repeat(4096)), "tool_failed").message).toBe("m".repeat(4096));
  });

  it("does not split a character", () => {
    const { message } = describeThrown(new Error(`m${"😀".repeat(4096)}`), "tool_failed");
    expect(message.isWellFormed()).toBe(true);
  });

  it("truncates a code of 5 MB too (F44)", () => {
    expect(
      describeThrown({ code: "c".repeat(5_000_000), message: "m" }, "tool_failed").code.length,
    ).toBeLessThan(4097);
  });

  it.each<[string, unknown, { code: string; retryable: boolean }]>([
    ["an AgentError", new AgentError("security", "No."), { code: "security", retryable: false }],
    [
      "a copy of one of ours",
      { code: "model_timeout", message: "Slow." },
      { code: "model_timeout", retryable: true },
    ],
    ["a custom code", { code: "ENOENT", message: "No file." }, { code: "ENOENT", retryable: true }],
    [
      "a code named like a property of objects",
      { code: "toString", message: "x" },
      { code: "toString", retryable: true },
    ],
    ["a code that is a number", { code: 20, message: "x" }, { code: "tool_failed", retryable: true }],
    ["an empty code", { code: "", message: "x" }, { code: "tool_failed", retryable: true }],
    [
      "its own word on retrying",
      { message: "x", retryable: false },
      { code: "tool_failed", retryable: false },
    ],
    [
      "an invalid retryable flag",
      { message: "x", retryable: "no" },
      { code: "tool_failed", retryable: true },
    ],
    [
      "a word against the table",
      { code: "security", message: "x", retryable: true },
      { code: "security", retryable: true },
    ],
  ])("takes the code and whether to retry from %s (D-16)", (_what, thrown, expected) => {
    expect(describeThrown(thrown, "tool_failed")).toMatchObject(expected);
  });

  it("uses the fallback for fields that the thrown value does not have", () => {
    expect(describeThrown("x", "bad_arguments")).toMatchObject({ code: "bad_arguments", retryable: false });
    expect(describeThrown({ code: "MINE", message: "x" }, "bad_arguments")).toMatchObject({
      code: "MINE",
      retryable: false,
    });
  });
});

describe("AgentError", () => {
  it("has the retryable flag of its code, or the one passed in", () => {
    expect(new AgentError("model_failed", "m").retryable).toBe(true);
    expect(new AgentError("model_failed", "m", { retryable: false }).retryable).toBe(false);
    expect(new AgentError("security", "m").retryable).toBe(false);
  });

  it("has a cause only when one is passed, even an undefined one", () => {
    expect(Object.hasOwn(new AgentError("security", "m"), "cause")).toBe(false);
    expect(Object.hasOwn(new AgentError("security", "m", { cause: undefined }), "cause")).toBe(true);
    expect(new AgentError("security", "m", { cause: 7 }).cause).toBe(7);
  });

  it("is an Error with its own name and message", () => {
    const error = new AgentError("unknown_run", "No such run.");
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toBe("AgentError: No such run.");
  });
});

describe("toErrorData", () => {
  it("matches the table, as JSON", () => {
    expect(toErrorData("tool_timeout", "Too slow.")).toEqual({
      code: "tool_timeout",
      message: "Too slow.",
      retryable: true,
    });
  });
});

describe("the table of codes", () => {
  it.each([
    "security",
    "bad_arguments",
    "unknown_tool",
    "aborted",
    "cancelled",
    "tool_denied",
  ] as const)("does not allow another attempt after %s (C-07, D-16)", (code) => {
    expect(errorCodes[code].retryable).toBe(false);
  });

  it("matches docs/errors.md: each code once, with its HTTP status and its retryable flag", () => {
    const page = readFileSync(new URL("../../../../docs/errors.md", import.meta.url), "utf8");
    const rows = page.matchAll(/^\| `(\w+)` \| (\d+) \| (yes|no) \| (.+) \| (.+) \|$/gm);
    const documented = [...rows].map(([, code, status, retryable]) => [
      code,
      Number(status),
      retryable === "yes",
    ]);
    const table = Object.entries(errorCodes).map(([code, { status, retryable }]) => [
      code,
      status,
      retryable,
    ]);
    expect(documented).toEqual(table);
  });
});

function fail(): never {
  throw new Error("no text");
}
