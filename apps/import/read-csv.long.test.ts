import { expect, it } from "vitest";
import { readCsv } from "./read-csv.ts";

it("a table of 2 GB is streamed: memory does not grow with the rows", async () => {
  const rowsPerChunk = 64;
  const chunk = Buffer.from(`${"words of a long table ".repeat(45)},7\n`.repeat(rowsPerChunk));
  const chunks = Math.ceil(2 ** 31 / chunk.length);
  async function* stream() {
    yield Buffer.from("text,number\n");
    for (let count = 0; count < chunks; count++) yield chunk;
  }
  const limits = { rows: Number.POSITIVE_INFINITY, bytes: 2 ** 32 };
  let rows = 0;
  let most = 0;
  const start = process.memoryUsage.rss();
  for await (const row of readCsv(stream(), { limits })) {
    if (row.size === 2 && ++rows % 10_000 === 0) most = Math.max(most, process.memoryUsage.rss());
  }
  expect(rows).toBe(chunks * rowsPerChunk);
  expect(most - start).toBeLessThan(300_000_000);
});
