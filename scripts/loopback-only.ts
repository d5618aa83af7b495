// A setup file of Vitest: no test may leave this machine. One in which something would have left fails, also when it
// caught the error.
import { afterAll, afterEach } from "vitest";
import { takeLeaks } from "./block-network.ts";

function failOnLeaks(): void {
  const found = takeLeaks();
  if (found.length > 0) throw new Error(`This test tried to leave this machine: ${found.join("; ")}.`);
}

// Again at the end of a file: what begins after a test still fails its file.
afterEach(failOnLeaks);
afterAll(failOnLeaks);
