import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { withDirectory } from "./directory.ts";
import { openFile } from "./open-file.ts";
import { resolveRoot } from "./root.ts";
import { runSwapAttack } from "./testing/swap-attack.ts";
import { canary, createTemporaryRoot } from "./testing/temporary-root.ts";

it("swapping folders and files with links for five seconds lets nothing in or out (A36)", async () => {
  const place = createTemporaryRoot();
  onTestFinished(place.remove);
  const until = performance.now() + 5000;
  const tally = await runSwapAttack(place, (_, { naive, inside, refused }) => {
    return performance.now() > until && Math.min(naive, inside, refused) > 0;
  });
  expect(tally.escaped).toBe(0);
  expect(readdirSync(place.outside)).toEqual(["outside-only.txt", "secret.txt"]);
  expect(readFileSync(join(place.outside, "secret.txt"), "utf8")).toBe(canary);
  // The attack was one: it reached who opens by path, and both sides of the exchange were met.
  expect(tally.naive).toBeGreaterThan(0);
  expect(tally.inside).toBeGreaterThan(0);
  expect(tally.refused).toBeGreaterThan(0);
});

it("without directory handles, nothing outside is read either (A36)", async () => {
  const place = createTemporaryRoot();
  onTestFinished(place.remove);
  const root = { ...resolveRoot({ root: place.path }), byHandle: false };
  const read = () =>
    withDirectory(root, ["swap"], async (directory) => {
      const { handle } = await openFile(directory, "secret.txt");
      return handle.readFile("utf8").finally(() => handle.close());
    });
  const until = performance.now() + 2000;
  const byPath = { ...place, call: read };
  const tally = await runSwapAttack(byPath, (_, { naive, inside }) => {
    return performance.now() > until && Math.min(naive, inside) > 0;
  });
  expect(tally.escaped).toBe(0);
  expect(tally.naive).toBeGreaterThan(0);
  expect(tally.inside).toBeGreaterThan(0);
});
