import { expect, it } from "vitest";
import { formatColdStartReport, listStarts, measureColdStart } from "./cold-start.ts";

it("the cold-start benchmark starts every command successfully", async () => {
  const starts = listStarts("source");
  const measured = await measureColdStart({ rounds: 1, starts, log: () => undefined });
  expect([...measured.keys()]).toEqual(starts.map(({ title }) => title));
  const report = formatColdStartReport(measured);
  expect(report).toContain("| `node -e 0` |");
  expect(report).toMatch(/capstan -p "hello"`, again \| \d+ \| \d+ \| \d+\.\d+ \(/);
  expect(report).not.toContain("NaN");
});
