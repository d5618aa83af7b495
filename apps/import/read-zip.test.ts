import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readZip } from "./read-zip.ts";
import { buildZip, type ZipFixtureEntry } from "./testing/write-zip.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "read-zip-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function writeZip(entries: readonly ZipFixtureEntry[]): Promise<string> {
  const path = join(folder, `${crypto.randomUUID()}.zip`);
  await writeFile(path, buildZip(entries));
  return path;
}

const zeros = (megabytes: number): Buffer => Buffer.alloc(megabytes * 1_000_000);

describe("readZip", () => {
  it("unpacks the wanted files by path, without folders", async () => {
    const path = await writeZip([
      { path: "venue/", content: "" },
      { path: "venue/units.geojson", content: '{"café":1}' },
      { path: "venue/photo.png", content: "pixels" },
    ]);
    const files = await readZip(path, { isWanted: (name) => name.endsWith(".geojson") });
    expect([...files].map(([name, content]) => [name, String(content)])).toEqual([
      ["venue/units.geojson", '{"café":1}'],
    ]);
  });

  it("stops a bomb at the ratio, long before it is unpacked", async () => {
    await expect(readZip(await writeZip([{ path: "bomb", content: zeros(20) }]))).rejects.toMatchObject({
      code: "file_limit",
      message: expect.stringMatching(/^"bomb" in ".*" unpacks to more than 200 times its size\.$/),
    });
  });

  it("counts the unpacked bytes of all entries together", async () => {
    const path = await writeZip(["a", "b", "c"].map((name) => ({ path: name, content: zeros(0.5) })));
    await expect(readZip(path, { limits: { bytes: 1_200_000 } })).rejects.toMatchObject({
      code: "file_limit",
      message: expect.stringMatching(/^"c" in .* unpacks to more than 200000 bytes\.$/),
    });
    await expect(readZip(path, { limits: { bytesPerEntry: 400_000 } })).rejects.toMatchObject({
      code: "file_limit",
      message: expect.stringMatching(/^"a" in /),
    });
  });

  it("keeps an archive inside the archive packed", async () => {
    const inner = buildZip([{ path: "bomb", content: zeros(20) }]);
    const files = await readZip(await writeZip([{ path: "inner.zip", content: inner }]));
    expect(files.get("inner.zip")?.equals(inner)).toBe(true);
  });

  it.each([
    [{ path: "a", content: "1234567890", claimedSize: 2 }, "too many bytes"],
    [{ path: "a", content: "12", claimedSize: 1_000_000_000 }, "not enough bytes"],
    [{ path: "../../escape", content: "x" }, "invalid relative path"],
    [{ path: "/etc/passwd", content: "x" }, "absolute path"],
    [{ path: "C:\\windows\\x", content: "x" }, "absolute path"],
    [{ path: "a", content: "x", isEncrypted: true }, "is encrypted"],
  ])("refuses %j", async (entry, reason) => {
    await expect(readZip(await writeZip([entry]))).rejects.toMatchObject({
      code: "file_invalid",
      message: expect.stringContaining(reason),
    });
  });

  it("refuses more entries than the limit, wanted or not", async () => {
    const path = await writeZip(
      Array.from({ length: 50 }, (_, index) => ({ path: `${index}`, content: "" })),
    );
    const reading = readZip(path, { limits: { entries: 49 }, isWanted: () => false });
    await expect(reading).rejects.toMatchObject({ code: "file_limit" });
    expect((await readZip(path, { limits: { entries: 50 } })).size).toBe(50);
  });

  it("names a file that is not an archive, or a part of one", async () => {
    const path = join(folder, "cut.zip");
    const whole = buildZip([{ path: "a", content: "text" }]);
    for (const content of ["no archive", whole.subarray(0, whole.length - 30)]) {
      await writeFile(path, content);
      await expect(readZip(path)).rejects.toMatchObject({ code: "file_invalid" });
    }
    await expect(readZip(join(folder, "missing.zip"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("stops when it is aborted", async () => {
    const path = await writeZip([{ path: "a", content: "text" }]);
    await expect(readZip(path, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
  });
});
