import { callbackRedirect, type McpTools, mcpTools, memoryTokens } from "@capstan/mcp";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OAuthServer, startOAuthServer } from "../../../mcp/src/client/oauth/testing/oauth-server.ts";
import { createHelloAgent } from "../testing/hello-agent.ts";
import { createTestServer, type TestServer } from "../testing/test-server.ts";

let guarded: OAuthServer;
let mcp: McpTools;
let server: TestServer;

beforeAll(async () => {
  guarded = await startOAuthServer();
  const redirect = callbackRedirect({ hint: "sign in on the page" });
  mcp = await mcpTools({
    mcpServers: { guarded: { url: guarded.url } },
    oauth: { tokens: memoryTokens(), redirect },
  });
  server = createTestServer({
    ...{ agents: [createHelloAgent()], mcp, basePath: "/agents" },
    ...{ mcpSettings: { redirect }, origins: ["https://studio.example"], hosts: ["studio.example"] },
  });
});
afterAll(async () => {
  await server?.close(0);
  await mcp?.close();
  await guarded?.close();
});

/** What a browser sends when another site redirects to a page. */
const navigation = {
  "sec-fetch-site": "cross-site",
  "sec-fetch-mode": "navigate",
  "sec-fetch-dest": "document",
};

async function getServer() {
  const { servers } = await (await server.send("GET", "/agents/api/mcp-servers")).json();
  return servers[0];
}

async function beginSignIn(headers: Record<string, string> = {}): Promise<string> {
  const response = await server.send("POST", "/agents/api/mcp-servers/guarded/sign-in", undefined, headers);
  return (await response.json()).page;
}

it("a user signs in to an MCP server in the browser, and out again (A33)", async () => {
  await expect.poll(async () => (await getServer()).state).toBe("failed");
  expect(await getServer()).toMatchObject({ needsSignIn: true, isSignedIn: false });
  const page = await beginSignIn();
  expect(new URL(page).searchParams.get("redirect_uri")).toBe("http://127.0.0.1/agents/mcp-callback");
  const back = new URL((await fetch(page, { redirect: "manual" })).headers.get("location") ?? "");
  const forged = await server.send("GET", "/agents/mcp-callback?code=x&state=guess", undefined, navigation);
  expect(forged.status).toBe(400);
  const done = await server.send("GET", `${back.pathname}${back.search}`, undefined, navigation);
  expect([done.status, done.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(done.headers.get("content-security-policy")).toContain("default-src 'none'");
  const text = await done.text();
  expect(text).toContain('href="/agents/mcp-servers"');
  expect(text).not.toContain(back.searchParams.get("code"));
  await expect.poll(async () => (await getServer()).state).toBe("ready");
  expect(await getServer()).toMatchObject({ needsSignIn: false, isSignedIn: true });
  expect(await beginSignIn(), "nothing to sign in to").toBeUndefined();
  const out = await server.send("POST", "/agents/api/mcp-servers/guarded/sign-out");
  expect((await out.json()).servers[0]).toMatchObject({ isSignedIn: false });
  expect(JSON.stringify(await getServer())).not.toMatch(/canary-(?:code|access|refresh)/);
});

it("behind a proxy that ends TLS, the user returns to the address of the browser (A33)", async () => {
  await expect.poll(async () => (await getServer()).state).toBe("failed");
  const headers = { host: "studio.example", origin: "https://studio.example" };
  const page = await beginSignIn(headers);
  expect(new URL(page).searchParams.get("redirect_uri")).toBe("https://studio.example/agents/mcp-callback");
});
