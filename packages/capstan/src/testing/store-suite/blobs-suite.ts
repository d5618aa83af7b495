import { beforeEach, describe, expect, it } from "vitest";
import type { Store } from "../../runtime/store.ts";

/** Blobs: data that is too large for a fact. */
export function blobsSuite(getStore: () => Store): void {
  let store: Store;
  beforeEach(() => {
    store = getStore();
  });

  describe("blobs", () => {
    it("are returned as stored, text and bytes", async () => {
      const text = await store.putBlob("s1", { mediaType: "text/plain", data: "ä".repeat(100_000) });
      const bytes = await store.putBlob("s1", {
        mediaType: "application/octet-stream",
        data: new Uint8Array([0, 255, 7]),
      });
      expect(await store.getBlob("s1", text)).toEqual({
        mediaType: "text/plain",
        data: "ä".repeat(100_000),
        size: 100_000,
      });
      expect(await store.getBlob("s1", bytes)).toEqual({
        mediaType: "application/octet-stream",
        data: new Uint8Array([0, 255, 7]),
        size: 3,
      });
      expect(text).not.toBe(bytes);
    });

    it("may be large, empty, and any text or bytes", async () => {
      const bytes = Uint8Array.from({ length: 1_000_000 }, (_, index) => index % 256);
      for (const data of [
        "\u0000a\u0000",
        "\ud800 half",
        "x".repeat(1_000_000),
        "",
        new Uint8Array(),
        bytes,
      ]) {
        const handle = await store.putBlob("s1", { mediaType: "a/b; c=\u0000", data });
        const stored = await store.getBlob("s1", handle);
        expect(stored).toMatchObject({ mediaType: "a/b; c=\u0000", size: data.length });
        // Compared by hand: a diff of a megabyte is slow to print.
        expect(typeof stored?.data).toBe(typeof data);
        expect(Buffer.from(stored?.data ?? "?").equals(Buffer.from(data))).toBe(true);
        if (typeof data === "string") expect(stored?.data === data).toBe(true);
      }
      const handles = Array.from({ length: 20 }, () => store.putBlob("s1", { mediaType: "a/b", data: "" }));
      expect(new Set(await Promise.all(handles)).size).toBe(20);
    });

    it("belong to their session", async () => {
      const handle = await store.putBlob("s1", { mediaType: "text/plain", data: "secret" });
      expect(await store.getBlob("s2", handle)).toBeUndefined();
    });
  });
}
