// Vitest setup file that blocks connections to other machines. A test that attempts one fails even if it catches the
// error.
import { afterAll, afterEach } from "vitest";
import { takeLeaks } from "./block-network.ts";

function failOnLeaks(): void {
  const leaks = takeLeaks();
  if (leaks.length > 0)
    throw new Error(`This test tried to connect to another machine: ${leaks.join("; ")}.`);
}

// Check again at the end of a file, for connections that start after a test.
afterEach(failOnLeaks);
afterAll(failOnLeaks);
