import { expect, it } from "vitest";
import { formatRelayReport, measureRelay } from "./relay.ts";

it("the relay benchmark measures both servers, and every reader gets the whole text", async () => {
  const order = { runs: 2, readers: 2, pieces: 20, everyMs: 1 };
  const cells = [await measureRelay("bare", order), await measureRelay("capstan", order)];
  expect(cells.every(({ cpuUs }) => cpuUs > 0)).toBe(true);
  expect(formatRelayReport(cells)).toMatch(
    /\| 2 runs, 2 readers each, a piece each 1 ms \| [\d.]+, [\d.]+ \|/,
  );
});
