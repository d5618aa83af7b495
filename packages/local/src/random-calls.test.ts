import { expect, it } from "vitest";
import { checkRandomCalls } from "./testing/check-random-calls.ts";

it("25 calls of a random model, each by another random schema, are all valid", async () => {
  expect(await checkRandomCalls(1, 25)).toEqual([]);
});
