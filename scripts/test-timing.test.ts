import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const minLimitMs = 30_000;

const comparedClock = /expect\((?:performance|Date)\.now\(\)/g;
/** The limits of `vi.waitFor`, `expect.poll`, a page, and a test file. */
const waitLimits = [
  /vi\.waitFor\([^\n]*, ([\d_]+)\);/g,
  /\.poll\([^\n]*\{ timeout: ([\d_]+)/g,
  /setDefaultTimeout\(([\d_]+)\)/g,
  /testTimeout: ([\d_]+)/g,
];

/** The places in a test file that would fail on a slow machine. */
function findTimeLimits(source: string): string[] {
  const compared = [...source.matchAll(comparedClock)].map(([text]) => text);
  const short = waitLimits
    .flatMap((pattern) => [...source.matchAll(pattern)])
    .filter(([, limit = ""]) => Number(limit.replaceAll("_", "")) < minLimitMs);
  return [...compared, ...short.map(([text]) => text)];
}

it("finds a comparison of wall time and a short limit", () => {
  // In pieces, so that the scan below does not find them here.
  const now = `${"performance"}.now()`;
  const page = `page.${"setDefaultTimeout"}`;
  expect(findTimeLimits(`expect(${now} - start).toBeLessThan(5);`)).toHaveLength(1);
  expect(findTimeLimits(`${page}(8_000);`)).toHaveLength(1);
  expect(findTimeLimits(`${page}(30_000);`)).toEqual([]);
});

it("no test depends on the speed of the machine: wait for a state, and limit CPU time with readCpuMs", () => {
  const files = globSync("{packages/*/src,apps,scripts,bench}/**/*.test.{ts,tsx}", { cwd: root });
  const found = files
    .filter((file) => !/node_modules|\.live\.test/.test(file))
    .flatMap((file) =>
      findTimeLimits(readFileSync(join(root, file), "utf8")).map((text) => `${file}: ${text}`),
    );
  expect(files.length).toBeGreaterThan(100);
  expect(found).toEqual([]);
});
