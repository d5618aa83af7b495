import { expect, it } from "vitest";
import { durableReport, measureDurable } from "./durable.ts";

it("the benchmark of durable runs goes through all its cells, and every run in it is right", async () => {
  const cells = await measureDurable({ rounds: 1, quick: true, say: () => undefined });
  expect(cells.map(({ order }) => `${order.work} ${order.store} ${order.runs}`)).toEqual([
    ...["disk", "plain", "memory", "sqlite"].map((store) => `runs ${store} 1`),
    ...["plain", "memory", "sqlite"].map((store) => `runs ${store} 50`),
    "wait sqlite 200",
    "open sqlite 200",
  ]);
  const report = durableReport(cells, 1);
  for (const title of ["One run: 1 × 10", "Many runs at once: 50 × 2", "200 runs that wait"])
    expect(report).toContain(title);
  expect(report).not.toContain("NaN");
});
