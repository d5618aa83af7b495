import { afterEach, beforeEach, expect, it } from "vitest";
import { type McpTools, mcpTools } from "../mcp-tools.ts";
import { type CallbackRedirect, callbackRedirect } from "./callback-redirect.ts";
import { type OAuthServer, startOAuthServer } from "./testing/oauth-server.ts";
import { memoryTokens } from "./token-store.ts";

const url = "http://127.0.0.1:4680/mcp-callback";
let guarded: OAuthServer;
let redirect: CallbackRedirect;
let mcp: McpTools;

beforeEach(async () => {
  guarded = await startOAuthServer();
  redirect = callbackRedirect({ hint: "use the page" });
  mcp = await mcpTools({
    mcpServers: { guarded: { url: guarded.url } },
    oauth: { tokens: memoryTokens(), redirect },
  });
});
afterEach(async () => {
  await mcp.close();
  await guarded.close();
});

const begin = () => redirect.begin({ server: "guarded", url, connect: () => mcp.signIn("guarded") });
const getStatus = () => mcp.status()[0];

/** Follows the page, as a browser would, and returns the query that reaches the callback. */
async function consent(page: URL): Promise<URLSearchParams> {
  const response = await fetch(page, { redirect: "manual" });
  const back = new URL(response.headers.get("location") ?? "");
  expect(`${back.origin}${back.pathname}`).toBe(url);
  return back.searchParams;
}

it("a server that requires sign-in waits until a user starts it, and then works (S4-02)", async () => {
  await expect.poll(() => getStatus()?.state).toBe("failed");
  expect(getStatus()).toMatchObject({ needsSignIn: true, isSignedIn: false });
  expect(getStatus()?.error?.message).toContain("requires sign-in: use the page");
  const page = await begin();
  expect(page?.origin).toBe(guarded.origin);
  await expect.poll(() => getStatus()?.state).toBe("signing-in");
  // A user who closed the page gets the same one again.
  expect((await begin())?.href).toBe(page?.href);
  const query = await consent(page as URL);
  expect(redirect.receive(query)).toBe(true);
  await expect.poll(() => getStatus()?.state).toBe("ready");
  expect(getStatus()).toMatchObject({ needsSignIn: false, isSignedIn: true, tools: ["mcp_guarded_echo"] });
  expect(redirect.receive(query), "a response is accepted once").toBe(false);
  expect(await begin(), "already signed in").toBeUndefined();
});

it("a response without the state of the sign-in is refused, and the sign-in goes on (A33)", async () => {
  const page = (await begin()) as URL;
  const forged = new URLSearchParams({ code: "canary-code", state: "guess" });
  expect(redirect.receive(forged)).toBe(false);
  const query = await consent(page);
  const doubled = new URLSearchParams([...query, ["state", "guess"]]);
  expect(redirect.receive(doubled)).toBe(false);
  expect(redirect.receive(query)).toBe(true);
  await expect.poll(() => getStatus()?.state).toBe("ready");
});

it("a user who refuses can try again, and can sign out (S4-02)", async () => {
  const refused = (await begin()) as URL;
  const state = refused.searchParams.get("state") ?? "";
  expect(redirect.receive(new URLSearchParams({ error: "access_denied", state }))).toBe(true);
  await expect.poll(() => getStatus()?.state).toBe("failed");
  expect(getStatus()?.error?.message).toContain("refused (access_denied)");
  redirect.receive(await consent((await begin()) as URL));
  await expect.poll(() => getStatus()?.state).toBe("ready");
  await mcp.signOut("guarded");
  await expect.poll(() => getStatus()?.state).toBe("failed");
  expect(getStatus()).toMatchObject({ needsSignIn: true, isSignedIn: false });
});
