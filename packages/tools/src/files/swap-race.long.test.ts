import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runSwapAttack } from "./testing/swap-attack.ts";
import { canary, createTemporaryRoot } from "./testing/temporary-root.ts";

it("100,000 tries on folders and files that are swapped with links: none escapes (A36)", {
  timeout: 1_800_000,
}, async () => {
  const place = createTemporaryRoot();
  onTestFinished(place.remove);
  const tally = await runSwapAttack(place, (tries) => tries >= 100_000, 20);
  expect(tally.escaped).toBe(0);
  expect(readdirSync(place.outside)).toEqual(["outside-only.txt", "secret.txt"]);
  expect(readFileSync(join(place.outside, "secret.txt"), "utf8")).toBe(canary);
  expect(tally.naive).toBeGreaterThan(0);
  expect(tally.inside).toBeGreaterThan(1000);
  expect(tally.refused).toBeGreaterThan(1000);
});
