import { expect, it } from "vitest";
import { coldStartReport, measureColdStart, startsOf } from "./cold-start.ts";

it("the benchmark of cold starts starts everything, and every start ends well", async () => {
  const starts = startsOf("source");
  const measured = await measureColdStart({ rounds: 1, starts, say: () => undefined });
  expect([...measured.keys()]).toEqual(starts.map(({ title }) => title));
  const report = coldStartReport(measured);
  expect(report).toContain("| `node -e 0` |");
  expect(report).toMatch(/capstan -p "hello"`, again \| \d+ \| \d+ \| \d+\.\d+ \(/);
  expect(report).not.toContain("NaN");
});
