import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type McpTools, mcpTools } from "@capstan/mcp";
import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
import type { FrameLocator, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { z } from "zod";
import { type PageOptions, type StudioUnderTest, setupStudio } from "./browser.ts";

const script = fileURLToPath(new URL("../../../mcp/src/client/testing/app-server.ts", import.meta.url));

/** A studio that is connected to a real MCP server with an app. */
export interface AppStudio {
  readonly studio: StudioUnderTest;
  /** Sets the page of the app, and fields of its resource. */
  setPage(html: string, resource?: object): void;
  /** Lists the calls that the MCP server has executed. */
  listCalls(): readonly string[];
  /** Lists the addresses that the agent's tool `post` has sent something to. */
  listPosts(): readonly string[];
  /** Opens a conversation in which the model has called the tool with the app. */
  openApp(options?: PageOptions): Promise<{ readonly page: Page; readonly frame: FrameLocator }>;
}

/** Registers hooks that start the MCP server and the studio. */
export function setupAppStudio(): AppStudio {
  const folder = mkdtempSync(join(tmpdir(), "capstan-app-"));
  const log = join(folder, "calls.log");
  let mcp: McpTools;
  beforeAll(async () => {
    writeFileSync(join(folder, "page.html"), "");
    const counter = { command: process.execPath, args: [script, folder], startTimeout: 60_000 };
    mcp = await mcpTools({ mcpServers: { counter: { ...counter, tools: { peek: { effects: "none" } } } } });
  });
  beforeEach(() => {
    rmSync(log, { force: true });
    posts.splice(0);
    rmSync(join(folder, "resource.json"), { force: true });
  });
  afterAll(async () => {
    await mcp?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const posts: string[] = [];
  const post = defineTool({
    name: "post",
    description: "Sends a report to an address",
    input: z.object({ url: z.string() }),
    effects: "send",
    target: ({ url }) => url,
    execute({ url }) {
      posts.push(url);
      return "Sent.";
    },
  });
  const model = scriptedModel(({ history }) => {
    const last = history.at(-1);
    if (last?.type === "result") return { text: "Here is the counter." };
    const [, url] = last?.type === "user" ? (/^Post .* (\S+)$/.exec(String(last.content)) ?? []) : [];
    if (url !== undefined) return { calls: [{ name: "post", input: { url } }] };
    return { calls: [{ name: "mcp_counter_show_counter", input: { by: 0 } }] };
  });
  const studio = setupStudio(() => ({
    agents: [defineAgent({ name: "guide", model, tools: () => [...mcp.tools, post] })],
    mcp,
  }));
  async function send(method: string, path: string, body?: object) {
    const headers = { host: "127.0.0.1", "content-type": "application/json" };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    return (await studio.server.fetch(new Request(`http://127.0.0.1${path}`, init))).json();
  }
  return {
    studio,
    setPage(html, resource) {
      writeFileSync(join(folder, "page.html"), html);
      if (resource) writeFileSync(join(folder, "resource.json"), JSON.stringify(resource));
    },
    listCalls: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []),
    listPosts: () => [...posts],
    async openApp(options) {
      const { runId, sessionId } = await send("POST", "/api/runs", { input: "Show the counter." });
      await expect.poll(() => send("GET", `/api/runs/${runId}`)).toMatchObject({ state: "ended" });
      const page = await studio.open(`/sessions/${sessionId}`, options);
      return { page, frame: page.frameLocator("iframe[title='App of counter']") };
    },
  };
}
