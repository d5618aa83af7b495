import { expect, it } from "vitest";
import { formatDurableReport, measureDurable } from "./durable.ts";

it("the durable benchmark measures all cells, and every run is correct", async () => {
  const cells = await measureDurable({ rounds: 1, quick: true, log: () => undefined });
  expect(cells.map(({ order }) => `${order.work} ${order.store} ${order.runs}`)).toEqual([
    ...["disk", "plain", "memory", "sqlite", "factsOnly"].map((store) => `runs ${store} 1`),
    ...["disk", "plain", "memory", "sqlite", "factsOnly"].map((store) => `runs ${store} 50`),
    "wait sqlite 200",
    "open sqlite 200",
  ]);
  const report = formatDurableReport(cells, 1);
  for (const title of ["One run: 1 × 10", "Many runs at once: 50 × 2", "200 waiting runs"])
    expect(report).toContain(title);
  expect(report).not.toContain("NaN");
});
