import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { tokenFile } from "./token-file.ts";
import { getServerKey, memoryTokens } from "./token-store.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-tokens-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const key = "https://mcp.test/mcp";
const tokens = { access_token: "canary-access", token_type: "Bearer" };

it("keeps tokens in a file and folder that only the owner can read, and leaves no temporary file", async () => {
  const file = join(folder, "home", "mcp-tokens.json");
  await tokenFile(file).update(key, (current) => ({ ...current, tokens }));
  expect(await tokenFile(file).read(key)).toEqual({ tokens });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder, "home"))).mode & 0o777).toBe(0o700);
  expect(await readdir(join(folder, "home"))).toEqual(["mcp-tokens.json"]);
});

it("restricts the mode of a readable file when it writes", async () => {
  const file = join(folder, "tokens.json");
  await writeFile(file, JSON.stringify({ version: 1, servers: {} }), { mode: 0o644 });
  await tokenFile(file).update(key, () => ({ tokens }));
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it("loses no concurrent write, also across two stores", async () => {
  const file = join(folder, "tokens.json");
  const stores = [tokenFile(file), tokenFile(file)] as const;
  const keys = Array.from({ length: 20 }, (_, index) => `https://mcp.test/${index}`);
  await Promise.all(
    keys.map((one, index) => stores[index % 2 === 0 ? 0 : 1].update(one, () => ({ tokens }))),
  );
  for (const one of keys) expect(await tokenFile(file).read(one)).toEqual({ tokens });
});

it("does not give the tokens of a server to another URL", () => {
  const keys = [
    "https://mcp.test/a",
    "https://mcp.test/b",
    "http://mcp.test/a",
    "https://mcp.test:8443/a",
    "https://other.test/a",
  ].map(getServerKey);
  expect(new Set(keys).size).toBe(keys.length);
  expect(getServerKey("https://MCP.test:443/a?x=1#y")).toBe("https://mcp.test/a");
});

it("reports a damaged file without its content, and never overwrites it", async () => {
  const file = join(folder, "tokens.json");
  const good = JSON.stringify({ version: 1, servers: { [key]: { tokens } } });
  const damaged = fc.oneof(
    fc.string(),
    fc.json(),
    fc.nat({ max: good.length - 2 }).map((length) => good.slice(0, length + 1)),
    fc.constantFrom(
      '{"version":2,"servers":{}}',
      '{"version":1,"servers":[]}',
      '{"version":1,"servers":{"a":{"tokens":{}}}}',
      '{"version":1,"servers":{"a":{"client":7}}}',
    ),
  );
  await fc.assert(
    fc.asyncProperty(damaged, async (text) => {
      await writeFile(file, text);
      for (const work of [tokenFile(file).read(key), tokenFile(file).update(key, () => ({ tokens }))]) {
        const error = await work.then(
          () => expect.fail("It did not fail."),
          (thrown) => thrown,
        );
        expect(error.code).toBe("mcp_config");
        expect(error.message).toContain(file);
        expect(error.message).toContain("move it away");
        expect(inspect(error)).not.toContain("canary");
      }
      expect(await readFile(file, "utf8")).toBe(text);
    }),
    { numRuns: 60 },
  );
  expect(await readdir(folder)).toEqual(["tokens.json"]);
});

it("works after a failed write", async () => {
  const file = join(folder, "tokens.json");
  await writeFile(file, "damaged");
  const store = tokenFile(file);
  await expect(store.update(key, () => ({ tokens }))).rejects.toMatchObject({ code: "mcp_config" });
  await rm(file);
  await store.update(key, () => ({ tokens }));
  expect(await store.read(key)).toEqual({ tokens });
});

it("reports a file that cannot be read or written", async () => {
  await expect(tokenFile(folder).read(key)).rejects.toMatchObject({ code: "mcp_config" });
  await writeFile(join(folder, "file"), "");
  const store = tokenFile(join(folder, "file", "tokens.json"));
  await expect(store.update(key, () => ({ tokens }))).rejects.toMatchObject({ code: "mcp_config" });
});

it("keeps tokens in memory by the same rules", async () => {
  const store = memoryTokens();
  await store.update(key, () => ({ tokens }));
  expect(await store.read(key)).toEqual({ tokens });
  expect(await store.read("https://mcp.test/other")).toEqual({});
});
