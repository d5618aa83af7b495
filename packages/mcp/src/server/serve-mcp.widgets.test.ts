import { defineAgent, defineTool } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { mcpTools } from "../client/mcp-tools.ts";
import { type ServeMcpOptions, serveMcp } from "./serve-mcp.ts";
import { connect } from "./testing/connect.ts";
import { listenOnLoopback, type TestListener } from "./testing/listen.ts";

const table = { kind: "table", props: { rows: [{ flight: "HA 101", minutes: 0 }] } };
const board = defineTool({
  name: "board",
  description: "The departures.",
  input: {},
  effects: "none",
  execute: () => ({ content: "One flight.", ui: table }),
});
const page = "<!doctype html><p>widgets</p>";

let listener: TestListener | undefined;
afterEach(() => listener?.close());

async function serve(options: Partial<ServeMcpOptions> = {}): Promise<URL> {
  const model = scriptedModel([{ calls: [{ name: "board" }] }, { text: "One departure." }, { text: "Bye." }]);
  const agents = [defineAgent({ name: "desk", model, tools: [board] })];
  listener = await listenOnLoopback(serveMcp({ agents, ...options }));
  return listener.url;
}

describe("the widgets of an agent, for other hosts", () => {
  it.each([
    "modern",
    "legacy",
  ] as const)("are a ui:// resource of its tool, and in the part of a result that models do not read (%s)", async (era) => {
    const client = await connect(await serve({ widgets: page }), era);
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === "query")?._meta).toEqual({
      ui: { resourceUri: "ui://capstan/widgets.html" },
    });
    const { contents } = await client.readResource({ uri: "ui://capstan/widgets.html" });
    expect(contents).toEqual([
      {
        ...{ uri: "ui://capstan/widgets.html", mimeType: "text/html;profile=mcp-app", text: page },
        _meta: { ui: { csp: {}, prefersBorder: false } },
      },
    ]);
    const { structuredContent, ...result } = await client.callTool({
      name: "query",
      arguments: { prompt: "What leaves?" },
    });
    expect(result._meta).toMatchObject({ "capstan/widgets": [table] });
    expect(JSON.stringify([structuredContent, result.content])).not.toContain("HA 101");
    const { session } = structuredContent as { session: string };
    const next = { prompt: "Thanks.", sessionId: session };
    const second = await client.callTool({ name: "query", arguments: next });
    expect(second._meta?.["capstan/widgets"]).toBeUndefined();
    await client.close();
  });

  it("are not offered without their page", async () => {
    const client = await connect(await serve(), "modern");
    const { tools } = await client.listTools();
    expect(tools[0]?._meta?.ui).toBeUndefined();
    const result = await client.callTool({ name: "query", arguments: { prompt: "What leaves?" } });
    expect(result._meta?.["capstan/widgets"]).toBeUndefined();
    await client.close();
  });

  it("are an app for another Capstan, which reads the page and hands the widgets to it", async () => {
    const mcp = await mcpTools({ mcpServers: { desk: { url: String(await serve({ widgets: page })) } } });
    const app = mcp.findApp("mcp_desk_query");
    expect(app).toMatchObject({ server: "desk", uri: "ui://capstan/widgets.html" });
    expect(await app?.read()).toEqual({ html: page, domains: { connect: [], resource: [], frame: [] } });
    await mcp.close();
  });
});
