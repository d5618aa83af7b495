import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, asyncProperty, constantFrom, jsonValue, oneof } from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTrustStore, type TrustedTool } from "./trust.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-mcp-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const createTrustedTool = (fingerprint: string): TrustedTool => ({
  fingerprint,
  definition: '{"name":"search"}',
});

describe("the trust store", () => {
  it("lasts as long as the process without a file", async () => {
    const trust = await openTrustStore(undefined);
    trust.set("notes", "search", createTrustedTool("a"));
    await trust.save();
    expect(trust.get("notes", "search")).toEqual(createTrustedTool("a"));
    expect((await openTrustStore(undefined)).get("notes", "search")).toBeUndefined();
  });

  it("lasts with a file, which only its owner can read (A50)", async () => {
    const file = join(folder, "deep", "er", "trust.json");
    const trust = await openTrustStore(file);
    trust.set("notes", "search", createTrustedTool("a"));
    trust.set("a", "b_c", createTrustedTool("b"));
    await trust.save();
    const later = await openTrustStore(file);
    expect(later.get("notes", "search")).toEqual(createTrustedTool("a"));
    expect(later.get("a", "b_c")).toEqual(createTrustedTool("b"));
    expect(later.get("a_b", "c")).toBeUndefined();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await chmod(file, 0o644);
    later.set("notes", "search", createTrustedTool("c"));
    await later.save();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, "deep", "er"))).toEqual(["trust.json"]);
  });

  it("keeps what other processes have stored in its file", async () => {
    const file = join(folder, "shared.json");
    const [one, other] = [await openTrustStore(file), await openTrustStore(file)];
    one.set("notes", "search", { ...createTrustedTool("a"), approved: true });
    await one.save();
    other.set("notes", "read", createTrustedTool("b"));
    await other.save();
    const later = await openTrustStore(file);
    expect(later.get("notes", "search")).toEqual({ ...createTrustedTool("a"), approved: true });
    expect(later.get("notes", "read")).toEqual(createTrustedTool("b"));
  });

  it("has a complete file at every moment, and finally contains all changes", async () => {
    const file = join(folder, "whole.json");
    const trust = await openTrustStore(file);
    trust.set("s", "first", createTrustedTool("0"));
    await trust.save();
    let isSaving = true;
    const saving = (async () => {
      for (let index = 0; index < 40; index++) {
        trust.set("s", `tool-${index}`, createTrustedTool("x".repeat(20_000)));
        void trust.save();
        if (index % 5 === 0) await trust.save();
      }
      await trust.save();
      isSaving = false;
    })();
    let looks = 0;
    for (; isSaving; looks++)
      expect(JSON.parse(await readFile(file, "utf8"))).toHaveProperty(['["s","first"]']);
    await saving;
    expect(looks).toBeGreaterThan(0);
    expect((await openTrustStore(file)).get("s", "tool-39")).toBeDefined();
  });

  it("reports a damaged file and does not change it", async () => {
    const file = join(folder, "damaged.json");
    const entry = { fingerprint: "a", definition: "{}" };
    const half = JSON.stringify({ '["s","t"]': entry }).slice(0, -5);
    const text = oneof(
      constantFrom("", "[]", '""', "5", "null", half, '{"x":{"fingerprint":"a"}}'),
      constantFrom('{"x":{"fingerprint":"a","definition":"{"}}', '{"x":{"fingerprint":1,"definition":"{}"}}'),
      jsonValue()
        .map((value) => JSON.stringify({ x: value }))
        .filter((written) => !written.includes("fingerprint")),
    );
    await assert(
      asyncProperty(text, async (damaged) => {
        await writeFile(file, damaged);
        const message = expect.stringContaining(`${file} is damaged`);
        await expect(openTrustStore(file)).rejects.toMatchObject({ code: "mcp_config", message });
        expect(await readFile(file, "utf8")).toBe(damaged);
      }),
    );
  });

  it("saves failed changes with the next save", async () => {
    const parent = join(folder, "later");
    await writeFile(parent, "in the way");
    const trust = await openTrustStore(undefined).then(() =>
      rm(parent).then(() => openTrustStore(join(parent, "trust.json"))),
    );
    await writeFile(parent, "in the way");
    trust.set("s", "t", createTrustedTool("a"));
    await expect(trust.save()).rejects.toThrow();
    await rm(parent);
    await trust.save();
    expect((await openTrustStore(join(parent, "trust.json"))).get("s", "t")).toEqual(createTrustedTool("a"));
  });
});
