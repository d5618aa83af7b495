import { describe, expect, it } from "vitest";
import { outageKinds } from "./outage-server.ts";
import { assertSurvived, simulateOutage } from "./simulate-outage.ts";

const durations = { "1 s": 1_000, "5 s": 5_000, "60 s": 60_000, "6 h": 6 * 3_600_000 };
const cases = [1, 20, 1_000].flatMap((runs) =>
  Object.entries(durations).flatMap(([duration, outageMs]) =>
    outageKinds.map((kind) => ({ runs, duration, outageMs, kind })),
  ),
);

/** Six hours of 1,000 runs are about 100,000 wake-ups. */
const timeout = 1_800_000;

describe("durable runs survive an outage of their provider", () => {
  it.each(cases)("$runs runs, $duration: $kind (F39, F89)", { timeout }, async (outage) => {
    const report = await simulateOutage(outage);
    assertSurvived(outage, report);
    expect(report.maxFacts).toBeLessThan(10_000);
  });
});
