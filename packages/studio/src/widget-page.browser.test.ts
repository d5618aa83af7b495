import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type McpTools, mcpTools } from "@capstan/mcp";
import { createServer, type ListeningServer, listen } from "@capstan/server";
import { defineAgent, defineTool, type Json } from "capstan";
import { scriptedModel } from "capstan/testing";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { setupStudio, takePicture } from "./testing/browser.ts";
import { buildWidgetPage } from "./testing/build-widget-page.ts";
import { openContext, waitMs } from "./testing/launch-browser.ts";
import { chart, map, table } from "./widgets/widgets-fixture-data.ts";

const sources = {
  kind: "sources",
  props: { sources: [{ title: "Guide", url: "https://example.com/", text: "A." }] },
};
const hints = [chart, table, map, sources] as unknown as { kind: string; props: Json }[];
const show = defineTool({
  name: "show",
  description: "Shows something.",
  input: { index: { type: "number" } },
  effects: "none",
  execute: ({ index }: { index: number }) => ({ content: "Shown.", ui: hints[index] }),
});
const remoteModel = scriptedModel(({ history }) =>
  history.at(-1)?.type === "user"
    ? { calls: hints.map((_, index) => ({ name: "show", input: { index } })) }
    : { text: "Here they are." },
);

let page = "";
let remote: ListeningServer;
let mcp: McpTools;
beforeAll(async () => {
  page = await buildWidgetPage();
  const agents = [defineAgent({ name: "desk", model: remoteModel, tools: [show] })];
  remote = await listen(createServer({ agents, widgets: page }), { port: 0 });
  mcp = await mcpTools({ mcpServers: { desk: { url: `${remote.url}/mcp`, startTimeout: waitMs } } });
});
afterAll(async () => {
  await mcp?.close();
  await remote?.close(500);
});

const model = scriptedModel(({ history }) =>
  history.at(-1)?.type === "user"
    ? { calls: [{ name: "mcp_desk_query", input: { prompt: "Show all." } }] }
    : { text: "The other server shows them." },
);
const studio = setupStudio(() => ({
  agents: [defineAgent({ name: "guide", model, tools: () => mcp.tools })],
  mcp,
}));

test("the page of the widgets is one file below 600 kB that loads nothing", () => {
  expect(page.length).toBeLessThan(600_000);
  const markup = page.replace(/(<script type="module">)[\s\S]*<\/script>/, "$1");
  expect(markup.length).toBeLessThan(100_000);
  expect(/(?:src|href)=|url\((?!["']?data:)/.exec(markup)).toBeNull();
});

describe("the widgets of an agent of another server", () => {
  test("are drawn in the studio, in the frame of its app", async () => {
    const send = async (method: string, path: string, body?: object) => {
      const headers = { host: "127.0.0.1", "content-type": "application/json" };
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      return (await studio.server.fetch(new Request(`http://127.0.0.1${path}`, init))).json();
    };
    const { runId, sessionId } = await send("POST", "/api/runs", { input: "Ask the desk." });
    await expect.poll(() => send("GET", `/api/runs/${runId}`)).toMatchObject({ state: "ended" });
    const opened = await studio.open(`/sessions/${sessionId}`, { theme: "dark" });
    const frame = opened.frameLocator("iframe[title='App of desk']");
    await frame.locator("figure").nth(3).waitFor();
    await expect.poll(() => frame.locator("figure").count()).toBe(4);
    await frame.locator(".uplot canvas").waitFor();
    const border = await frame
      .locator("figure")
      .first()
      .evaluate((figure) => getComputedStyle(figure).borderStyle);
    expect(border).toBe("solid");
    await expect.poll(() => frame.locator("html").getAttribute("data-theme")).toBe("dark");
    await takePicture(opened, "widgets-in-another-host");
  });

  test("are drawn in a host that uses the official bridge, which learns their height and opens their links", async () => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-bridge-"));
    const entry = join(import.meta.dirname, "widget-page/bridge-host.ts");
    await build({
      configFile: false,
      logLevel: "error",
      build: { outDir: folder, minify: false, lib: { entry, formats: ["es"], fileName: () => "host.js" } },
    });
    const context = await openContext();
    try {
      const host = await context.newPage();
      await host.setContent("<!doctype html><body></body>");
      const result = { content: [{ type: "text", text: "Shown." }], _meta: { "capstan/widgets": hints } };
      await host.evaluate(
        (values) => Object.assign(window, JSON.parse(values)),
        JSON.stringify({ page, result }),
      );
      await host.addScriptTag({ type: "module", content: readFileSync(join(folder, "host.js"), "utf8") });
      await host.waitForFunction("window.show");
      await host.evaluate("show()");
      const frame = host.frameLocator("iframe");
      await frame.locator("figure").nth(3).waitFor();
      await expect.poll(() => frame.locator("html").getAttribute("data-theme")).toBe("dark");
      await frame.locator("a[href^=http]").first().click();
      await expect.poll(() => host.evaluate("heard.find(({ url }) => url)?.url")).toMatch(/^https?:/);
      const heights = await host.evaluate<number[]>("heard.flatMap(({ height }) => height ?? [])");
      expect(Math.max(...heights)).toBeGreaterThan(500);
    } finally {
      await context.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
