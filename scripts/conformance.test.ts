import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { judge, readExpected } from "./conformance.ts";

const result = { side: "client", version: "2026-07-28", name: "auth/dpop", checks: 1 } as const;
const good = { ...result, problems: [] };
const bad = { ...result, problems: ["It failed."] };
const nothing = { server: [], client: [] };
const named = { server: [], client: ["auth/dpop"] };

it("a scenario that fails is a failure, unless it is expected or not required", () => {
  expect(judge(good, nothing)).toBe("passed");
  expect(judge(bad, nothing)).toBe("failed");
  expect(judge(bad, named)).toBe("expected");
  expect(judge({ ...bad, notScored: "extension" }, nothing)).toBe("not scored");
});

it("an expected failure that passes is stale", () => {
  expect(judge(good, named)).toBe("stale");
});

it("expected failures are read by side, without their reasons", () => {
  const text = "# why\nserver: []\nclient:\n  # no browser\n  - auth/dpop # not yet\n  - auth/dpop-nonce\n";
  expect(readExpected(text)).toEqual({ server: [], client: ["auth/dpop", "auth/dpop-nonce"] });
});

it("a line of the expected failures that would be ignored is refused", () => {
  expect(() => readExpected("client:\n  - auth/dpop: reason\n")).toThrow("Line 2");
  expect(() => readExpected("- auth/dpop\n")).toThrow("Line 1");
});

it("only variants of OAuth are expected to fail (S4-02, S4-54)", () => {
  const file = new URL("../packages/mcp/conformance/expected-failures.yaml", import.meta.url);
  const { server, client } = readExpected(readFileSync(file, "utf8"));
  expect(server).toEqual([]);
  expect(client.filter((name) => !name.startsWith("auth/"))).toEqual([]);
});
