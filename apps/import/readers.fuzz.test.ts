import { AgentError } from "capstan";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CsvRow, readCsv } from "./read-csv.ts";
import { checkZip, readZip } from "./read-zip.ts";
import { buildZip } from "./testing/write-zip.ts";

/** Rejects with an error that a user understands, or not at all. */
async function settle<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  return reading.catch((error: unknown) => {
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({ code: expect.stringMatching(/^file_(?:invalid|limit)$/) });
    return undefined;
  });
}

const change = fc.record({ at: fc.nat(), value: fc.nat(255) });

describe("any bytes", () => {
  it("are an archive, or are refused by name; checking and reading agree", async () => {
    const whole = buildZip([
      { path: "folder/", content: "" },
      { path: "folder/a.txt", content: "some text ".repeat(50) },
      { path: "b.json", content: "{}" },
    ]);
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 4 }), fc.nat(whole.length), async (changes, cut) => {
        const bytes = Buffer.from(whole.subarray(0, whole.length - (cut % 3 === 0 ? cut : 0)));
        for (const { at, value } of changes) bytes[at % bytes.length] = value;
        const limits = { bytes: 10_000 };
        const files = await settle(readZip(bytes, { limits }));
        const isChecked = await settle(checkZip(bytes, { limits }).then(() => true));
        expect(isChecked === true).toBe(files !== undefined);
        for (const path of files?.keys() ?? []) expect(path).not.toMatch(/^\/|\.\.\//);
      }),
      { numRuns: 300 },
    );
  });

  it("are a table, or are refused by name", async () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom('"', ",", ";", "\n", "\r\n", '""'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        async function* stream() {
          for (const bytes of pieces) yield Buffer.from(bytes);
        }
        const limits = { rows: 20, columns: 20, rowLength: 200 };
        const rows = await settle(Array.fromAsync(readCsv(stream(), { limits })));
        expect(rows?.length ?? 0).toBeLessThanOrEqual(20);
      }),
      { numRuns: 300 },
    );
  });
});

it("a table that a program writes is read as it was, however its bytes are split", async () => {
  const cell = fc.string({ unit: fc.constantFrom("a", "é", "😀", '"', ",", ";", "\n", " "), maxLength: 6 });
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 50 }),
      async (cells, size) => {
        const text = [["x", "y"], ...cells].map((row) => row.map(quote).join(",")).join("\r\n");
        const bytes = Buffer.from(text);
        async function* stream() {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        }
        const rows = await Array.fromAsync(readCsv(stream()));
        expect(rows.map((row: CsvRow) => [...row.values()])).toEqual(cells);
      },
    ),
    { numRuns: 200 },
  );
});
