import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hidePassword, openStore, resolveDatabase } from "./open-store.ts";
import { resolveModel } from "./resolve-model.ts";

const io = (env: Record<string, string> = {}) =>
  ({ env: { CAPSTAN_HOME: "/data", ...env }, cwd: "/here" }) as never;

describe("the database", () => {
  it("is the flag's, the environment's, the configuration's or the data folder's, in this order", () => {
    const project = { config: { database: "own.db" }, configFile: "/project/capstan.config.ts" };
    expect(resolveDatabase({ database: "a.db" }, project, io({ CAPSTAN_DATABASE: "b.db" }))).toBe(
      "/here/a.db",
    );
    expect(resolveDatabase({}, project, io({ CAPSTAN_DATABASE: "b.db" }))).toBe("/here/b.db");
    expect(resolveDatabase({}, project, io())).toBe("/project/own.db");
    expect(resolveDatabase({}, { config: {} }, io())).toBe("/data/capstan.db");
    expect(resolveDatabase({ database: "postgres://x/y" }, project, io())).toBe("postgres://x/y");
  });

  it("is of a kind that there is: another one is refused by its name, without its password", () => {
    const foreign = () => resolveDatabase({ database: "foo://me:secret@x" }, { config: {} }, io());
    expect(foreign).toThrow("Unsupported database URL foo://. Use a file path or postgres://…");
    const configured = { config: { database: "mysql://x" }, configFile: "/project/capstan.config.ts" };
    expect(() => resolveDatabase({}, configured, io())).toThrow("mysql://");
    expect(() => resolveDatabase({}, { config: {} }, io({ CAPSTAN_DATABASE: "file:///x" }))).toThrow(
      "file://",
    );
    expect(resolveDatabase({ database: "a:b.db" }, { config: {} }, io())).toBe("/here/a:b.db");
  });

  it("is shown without its password", () => {
    expect(hidePassword("postgres://me:secret@host:5432/base?password=secret")).toBe(
      "postgres://me@host:5432/base",
    );
    expect(hidePassword("postgres://me:sec ret@[bad")).toBe("postgres://…");
  });

  it("is for its owner alone, also in a folder that all may read", async () => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-store-"));
    try {
      const { store } = await openStore(join(folder, "own.db"));
      const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
      expect(new Set(modes)).toEqual(new Set([0o600]));
      await store.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("may be unreachable: it is not contacted before its first use", async () => {
    const { store, database } = await openStore("postgres://me:secret@127.0.0.1:9/base");
    expect(database).toBe("postgres://me@127.0.0.1:9/base");
    await expect(store.list()).rejects.toMatchObject({ name: "AgentError" });
    await store.close();
  });
});

describe("the name of a model", () => {
  it("may have an effort, and other words behind a colon belong to the name", async () => {
    expect(await resolveModel("ollama/llama3:8b")).toBe("ollama/llama3:8b");
    expect(await resolveModel("openai/gpt-5:high")).toMatchObject({ id: "openai/gpt-5" });
    expect(await resolveModel("openai/gpt-5:xhigh")).toMatchObject({ id: "openai/gpt-5" });
    expect(await resolveModel("offline")).toMatchObject({ id: "offline/rules" });
    await expect(resolveModel("ollama/llama3:high")).rejects.toThrow('Remove ":high" and use --effort');
    await expect(resolveModel("gpt-5")).rejects.toThrow("Use provider/model");
  });
});
