import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { defineAgent, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { assert, asyncProperty, constantFrom, nat } from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mcpTools } from "../mcp-tools.ts";
import { readConfigFile } from "./read-config-file.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-mcp-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function writeConfig(mcpServers: object): Promise<string> {
  const file = join(folder, ".mcp.json");
  await writeFile(file, JSON.stringify({ mcpServers }));
  return file;
}

async function readText(text: string): Promise<Readonly<Record<string, unknown>>> {
  const file = join(folder, ".mcp.json");
  await writeFile(file, text);
  return readConfigFile(file);
}

describe("a configuration file", () => {
  it("gives its servers as they are written, also after a byte order mark", async () => {
    const servers = { notes: { command: "node", args: [`\${HOME}`] } };
    await expect(readText(JSON.stringify({ mcpServers: servers }))).resolves.toEqual(servers);
    await expect(readText(`\uFEFF${JSON.stringify({ mcpServers: servers, inputs: [] })}`)).resolves.toEqual(
      servers,
    );
  });

  it.each([
    "{}",
    "[]",
    "null",
    '{"mcpServers": []}',
    '{"servers": {}}',
  ])("without servers is named: %s", async (text) => {
    const error = {
      code: "mcp_config",
      message: expect.stringMatching(/\.mcp\.json needs an object "mcpServers"/),
    };
    await expect(readText(text)).rejects.toMatchObject(error);
  });

  it("that is not there, or cannot be read, is named", async () => {
    const missing = join(folder, "missing.json");
    const error = { code: "mcp_config", message: `MCP config ${missing} does not exist.` };
    await expect(readConfigFile(missing)).rejects.toMatchObject(error);
    await expect(readConfigFile(folder)).rejects.toMatchObject({
      message: expect.stringContaining("(EISDIR)"),
    });
  });

  it("that is not JSON is named with the place, and shows nothing of a secret in it", async () => {
    const whole = JSON.stringify({
      mcpServers: { a: { command: "x", env: { KEY: "s3cret position s3cret" } } },
    });
    const place = expect.stringMatching(/is not valid JSON( at position \d+ \(line \d+ column \d+\))?\.$/);
    await assert(
      asyncProperty(
        nat(whole.length - 1),
        constantFrom("", "!", "]", "?}", " line s3cret"),
        async (at, wrong) => {
          const text = whole.slice(0, at) + wrong;
          const error = await readText(text).catch((thrown: Error) => thrown);
          expect(error).toMatchObject({ code: "mcp_config", message: place });
          expect((error as Error).message).not.toContain("s3cret");
        },
      ),
    );
  });
});

describe("servers of a configuration file", () => {
  const memory = () => {
    const file = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-memory/package.json");
    return {
      command: `\${NODE}`,
      args: [join(dirname(file), "dist/index.js")],
      env: { MEMORY_FILE_PATH: `\${FOLDER}/\${NAME:-memory}.jsonl` },
    };
  };
  const crashing = { command: process.execPath, args: ["-e", "console.error('no key'); process.exit(3)"] };
  const variables = () => ({ NODE: process.execPath, FOLDER: folder });

  it("bring new tools to an agent without a change of code (S4-63)", async () => {
    const mcp = await mcpTools({ file: await writeConfig({ kept: memory() }), variables: variables() });
    const entities = [{ name: "Oslo", entityType: "city", observations: ["rainy"] }];
    const steps = [{ calls: [{ name: "mcp_kept_create_entities", input: { entities } }] }, { text: "Kept." }];
    const agent = defineAgent({ name: "keeper", model: scriptedModel(steps), tools: mcp.tools });
    expect(await run(agent, "Keep it.")).toMatchObject({ text: "Kept.", toolCalls: [{ status: "ok" }] });
    await mcp.close();
    expect(await readFile(join(folder, "memory.jsonl"), "utf8")).toContain("Oslo");
  });

  it("do not stop each other: one crashes, one cannot be started, one is switched off, one is misspelt (M5, S4-46)", async () => {
    const file = await writeConfig({
      ...{ crashing, missing: { command: join(folder, "missing") }, off: { ...crashing, enabled: false } },
      ...{ misspelt: { comand: "node" }, unset: { command: `\${NOT_SET}` }, kept: memory() },
    });
    const mcp = await mcpTools({ file, variables: variables() });
    const status = Object.fromEntries(mcp.status().map((one) => [one.name, one]));
    const coming = expect.stringMatching(/^(re)?starting$/);
    expect(status).toMatchObject({
      crashing: { state: coming, error: { code: "mcp_disconnected" }, tools: [] },
      missing: { state: coming, error: { code: "mcp_disconnected" } },
      off: { state: "off", log: [], tools: [] },
      misspelt: { state: "failed", error: { code: "mcp_config" } },
      unset: { state: "failed", error: { message: expect.stringContaining("NOT_SET, which is not set") } },
      kept: { state: "ready" },
    });
    expect(status.crashing?.error?.message).toContain("exited with code 3");
    expect(status.crashing?.log).toContain("no key");
    const steps = [{ calls: [{ name: "mcp_kept_read_graph" }] }, { text: "Read." }];
    const agent = defineAgent({ name: "reader", model: scriptedModel(steps), tools: mcp.tools });
    expect(await run(agent, "Read.")).toMatchObject({ text: "Read.", toolCalls: [{ status: "ok" }] });
    await expect(mcp.resources("off")).rejects.toMatchObject({
      message: expect.stringContaining("disabled"),
    });
    await mcp.close();
  });

  it("that are required and not there make it reject by name, with the reason", async () => {
    const options = {
      file: await writeConfig({ crashing: { ...crashing, required: true }, kept: memory() }),
    };
    const error = await mcpTools({ ...options, variables: variables() }).catch((thrown: unknown) => thrown);
    const message = expect.stringMatching(
      /^The MCP server "crashing" is required but not available\. .*exited with code 3/,
    );
    expect(error).toMatchObject({ code: "mcp_disconnected", message });
  });

  it("can be replaced in the code", async () => {
    const kept = { ...crashing, enabled: false };
    const mcp = await mcpTools({ file: await writeConfig({ kept: memory() }), mcpServers: { kept } });
    expect(mcp.status()).toMatchObject([{ name: "kept", state: "off" }]);
    await mcp.close();
  });
});
