import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { classifyResult, parseExpectedFailures } from "./conformance.ts";

const result = { side: "client", version: "2026-07-28", name: "auth/dpop", checks: 1 } as const;
const good = { ...result, problems: [] };
const bad = { ...result, problems: ["It failed."] };
const nothing = { server: [], client: [] };
const named = { server: [], client: ["auth/dpop"] };

it("a failing scenario counts as failed unless it is expected or not required", () => {
  expect(classifyResult(good, nothing)).toBe("passed");
  expect(classifyResult(bad, nothing)).toBe("failed");
  expect(classifyResult(bad, named)).toBe("expected");
  expect(classifyResult({ ...bad, notScored: "extension" }, nothing)).toBe("not scored");
});

it("an expected failure that passes is stale", () => {
  expect(classifyResult(good, named)).toBe("stale");
});

it("expected failures are parsed by side, without comments", () => {
  const text = "# why\nserver: []\nclient:\n  # no browser\n  - auth/dpop # not yet\n  - auth/dpop-nonce\n";
  expect(parseExpectedFailures(text)).toEqual({ server: [], client: ["auth/dpop", "auth/dpop-nonce"] });
});

it("an invalid line in the expected failures is rejected", () => {
  expect(() => parseExpectedFailures("client:\n  - auth/dpop: reason\n")).toThrow("Line 2");
  expect(() => parseExpectedFailures("- auth/dpop\n")).toThrow("Line 1");
});

it("only OAuth variants are expected to fail (S4-02, S4-54)", () => {
  const file = new URL("../packages/mcp/conformance/expected-failures.yaml", import.meta.url);
  const { server, client } = parseExpectedFailures(readFileSync(file, "utf8"));
  expect(server).toEqual([]);
  expect(client.filter((name) => !name.startsWith("auth/"))).toEqual([]);
});
