// Vitest setup file that lets `vi.waitFor` wait as long as `expect.poll`: its own limit of a second is too short for a
// busy machine, and vitest has no setting for it.
import { vi } from "vitest";

const timeout = 60_000;
const { waitFor } = vi;

vi.waitFor = (callback, options) =>
  waitFor(callback, { timeout, ...(typeof options === "number" ? { timeout: options } : options) });
