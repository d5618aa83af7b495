import { afterEach, expect, it, vi } from "vitest";
import { waitUntil } from "./wait-until.ts";

afterEach(() => vi.restoreAllMocks());

it("ends when the machine wakes up after that time", async () => {
  const at = Date.now() + 6 * 3_600_000;
  const waiting = waitUntil(at, new AbortController().signal, 1);
  vi.spyOn(Date, "now").mockReturnValue(at);
  await expect(waiting).resolves.toBeUndefined();
});

it("ends when the signal is aborted", async () => {
  const controller = new AbortController();
  const waiting = waitUntil(Date.now() + 3_600_000, controller.signal);
  controller.abort();
  await expect(waiting).resolves.toBeUndefined();
});
