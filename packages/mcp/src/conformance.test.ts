import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FixtureServer, startFixtureServer } from "../conformance/fixture-server.ts";
import {
  listScenarios,
  runClientScenario,
  runServerScenarios,
  type ScenarioResult,
  versions,
} from "../conformance/runner.ts";

const patienceMs = 90_000;
const formatFailures = (results: readonly ScenarioResult[]) =>
  results.filter(({ problems }) => problems.length > 0).map(({ name, problems }) => [name, ...problems]);

// `npm run conformance` runs the rest of the client's scenarios.
const clientScenarios = [
  ["2025-11-25", "initialize"],
  ["2025-11-25", "sse-retry"],
  ["2026-07-28", "tools_call"],
  ["2026-07-28", "sep-2322-client-request-state"],
] as const;

describe("the official conformance runner", () => {
  let server: FixtureServer;
  beforeAll(async () => {
    server = await startFixtureServer();
  });
  afterAll(() => server.close());

  it.each(versions)(
    "finds that our server meets every requirement of %s (S4-54, D-19)",
    async (version) => {
      const required = (await listScenarios(version)).filter(
        ({ side, notScored }) => side === "server" && notScored === undefined,
      );
      const results = await runServerScenarios(server.url, version, required);
      expect(formatFailures(results)).toEqual([]);
      // 30 and 37 scenarios, frozen with their revisions.
      expect(results).toHaveLength(version === "2025-11-25" ? 30 : 37);
    },
    patienceMs,
  );

  it(
    "finds fault with a server that is not there",
    async () => {
      const scenario = { side: "server", version: "2025-11-25", name: "ping" } as const;
      const [result] = await runServerScenarios("http://127.0.0.1:9/mcp", scenario.version, [scenario]);
      expect(result?.problems).not.toEqual([]);
    },
    patienceMs,
  );

  it.each(clientScenarios)(
    "finds that our client meets %s: %s (S4-02, D-19)",
    async (version, name) => {
      const result = await runClientScenario({ side: "client", version, name });
      expect(result.problems).toEqual([]);
      expect(result.checks).toBeGreaterThan(0);
    },
    patienceMs,
  );

  it(
    "finds that our sign-in widens its scope when a server asks for that",
    async () => {
      const scenario = { side: "client", version: "2026-07-28", name: "auth/scope-step-up" } as const;
      expect((await runClientScenario(scenario)).problems).toEqual([]);
    },
    patienceMs,
  );
});
