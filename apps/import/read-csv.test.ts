import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CsvRow, type ReadCsvOptions, readCsv } from "./read-csv.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "read-csv-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function* stream(...chunks: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

const readAll = async (source: string | AsyncIterable<Uint8Array>, options?: ReadCsvOptions) =>
  (await Array.fromAsync(readCsv(source, options))).map((row: CsvRow) => Object.fromEntries(row));

describe("readCsv", () => {
  it("reads quoted values, ragged rows and columns without a name, in any split of the bytes", async () => {
    const bytes = Buffer.from('name,,name\r\n"Müller, ""Uli""",1\r\n\r\n"two\nlines",2,3,4\r\n');
    for (const size of [1, 7, 1000]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      expect(await readAll(stream(...chunks))).toEqual([
        { name: 'Müller, "Uli"', "column 2": "1", "name 3": "" },
        { name: "two\nlines", "column 2": "2", "name 3": "3" },
      ]);
    }
  });

  it.each([
    ["semicolons, as Excel writes them in Europe", 'a;"b,c"\n1;2', { a: "1", "b,c": "2" }],
    ["tabs", "a\tb,c\n1\t2", { a: "1", "b,c": "2" }],
    ["a byte order mark", "\uFEFFa,b\n1,2", { a: "1", b: "2" }],
    ["UTF-16", Buffer.from("\uFEFFa,b\n1,é", "utf16le"), { a: "1", b: "é" }],
    ["Latin-1", Buffer.from("a,b\n1,é", "latin1"), { a: "1", b: "é" }],
    [
      "a column named like an internal property",
      "__proto__,b\n1,2",
      new Map([
        ["__proto__", "1"],
        ["b", "2"],
      ]),
    ],
  ])("detects %s", async (_, text, row) => {
    const [first] = await Array.fromAsync(readCsv(stream(text)));
    expect(first).toEqual(row instanceof Map ? row : new Map(Object.entries(row)));
  });

  it("stops an endless stream at the limit of rows or bytes, and yields the rows before it", async () => {
    let made = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("a,b\n");
      for (;;) {
        made += 1;
        yield Buffer.from("1,2\n".repeat(1000));
      }
    }
    const rows: CsvRow[] = [];
    const reading = (async () => {
      for await (const row of readCsv(endless(), { limits: { rows: 5000 } })) rows.push(row);
    })();
    await expect(reading).rejects.toMatchObject({
      code: "file_limit",
      message: "The CSV text has more than 5000 rows.",
    });
    expect(rows).toHaveLength(5000);
    await expect(readAll(endless(), { limits: { bytes: 400_000 } })).rejects.toMatchObject({
      code: "file_limit",
      message: "The CSV text is larger than 400000 bytes.",
    });
    expect(made).toBeLessThan(500);
  });

  it("refuses a file of 2 GB without reading it, and a huge row", async () => {
    const path = join(folder, "huge.csv");
    const file = await open(path, "w");
    await file.truncate(2 ** 31);
    await file.close();
    await expect(readAll(path)).rejects.toMatchObject({
      code: "file_limit",
      message: `"${path}" is larger than 100000000 bytes.`,
    });
    // The file has no line end: one row.
    await expect(readAll(path, { limits: { bytes: 2 ** 32, rowLength: 100_000 } })).rejects.toMatchObject({
      code: "file_limit",
      message: `"${path}" has a row of more than 100000 characters.`,
    });
    await expect(readAll(stream("a,b,c"), { limits: { columns: 2 } })).rejects.toMatchObject({
      code: "file_limit",
    });
  });

  it("names a file that is not CSV or does not exist, and stops when it is aborted", async () => {
    const path = join(folder, "open-quote.csv");
    await writeFile(path, 'a,b\n"1,2\n');
    await expect(readAll(path)).rejects.toMatchObject({ code: "file_invalid" });
    await expect(readAll(join(folder, "missing.csv"))).rejects.toMatchObject({ code: "ENOENT" });
    const aborted = readAll(stream("a\n1\n2"), { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
  });
});
