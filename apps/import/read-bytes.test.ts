import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readBytes } from "./read-bytes.ts";
import { readCsv } from "./read-csv.ts";

const folder = mkdtempSync(join(tmpdir(), "read-bytes-"));
afterAll(() => rmSync(folder, { recursive: true }));

const read = (path: string, maxBytes = 1000) => readBytes(path, { maxBytes });

describe("readBytes", () => {
  it("returns a file that has at most as many bytes as allowed", async () => {
    const path = join(folder, "a.txt");
    writeFileSync(path, "12345");
    expect(String(await read(path, 5))).toBe("12345");
    await expect(read(path, 4)).rejects.toMatchObject({ code: "file_limit", message: /^"a\.txt" is larger/ });
    await expect(read(join(folder, "gone"))).rejects.toMatchObject({ code: "ENOENT" });
    const signal = AbortSignal.abort();
    await expect(readBytes(path, { maxBytes: 5, signal })).rejects.toMatchObject({ name: "AbortError" });
  });

  it("does not read a file of 2 GB", async () => {
    const path = join(folder, "huge.bin");
    writeFileSync(path, "");
    truncateSync(path, 2 ** 31);
    await expect(read(path, 100_000_000)).rejects.toMatchObject({
      code: "file_limit",
      message: '"huge.bin" is larger than 100 MB.',
    });
  });

  it.skipIf(process.platform !== "linux")("counts a file that has more bytes than it said", async () => {
    // Its size is 0, as that of a file to which another program only begins to write.
    await expect(read("/proc/self/status", 20)).rejects.toMatchObject({ code: "file_limit" });
  });
});

describe.skipIf(process.platform === "win32")("what is no file", () => {
  const pipe = join(folder, "pipe.csv");

  it("is refused at once, although nobody writes to the pipe and the device has no end", async () => {
    execFileSync("mkfifo", [pipe]);
    for (const path of [pipe, "/dev/zero", folder]) {
      const refusal = { code: "file_invalid", message: /is not a regular file\.$/ };
      await expect(read(path)).rejects.toMatchObject(refusal);
      await expect(Array.fromAsync(readCsv(path))).rejects.toMatchObject(refusal);
    }
  });
});
