import { describe, expect, it } from "vitest";
import { outageKinds } from "./outage-server.ts";
import { assertSurvived, simulateOutage } from "./simulate-outage.ts";

describe("durable runs survive an outage of their provider", () => {
  it.each(outageKinds)("of five seconds, 20 runs: %s (F39, F89)", async (kind) => {
    const outage = { kind, runs: 20, outageMs: 5_000 };
    assertSurvived(outage, await simulateOutage(outage));
  });

  it.each(outageKinds)("of a minute, 20 runs: %s (F39, F89)", async (kind) => {
    const outage = { kind, runs: 20, outageMs: 60_000 };
    assertSurvived(outage, await simulateOutage(outage));
  });

  it("of one second", async () => {
    const outage = { kind: "refused" as const, runs: 1, outageMs: 1_000 };
    assertSurvived(outage, await simulateOutage(outage));
  });

  it("of an hour, suspended, and are active again within seconds of its return", async () => {
    const outage = { kind: "503" as const, runs: 1, outageMs: 3_600_000 };
    const report = await simulateOutage(outage);
    assertSurvived(outage, report);
    expect(report.suspended).toBe(1);
  });
});
