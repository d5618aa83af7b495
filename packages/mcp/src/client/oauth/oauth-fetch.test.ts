import { afterEach, expect, it, vi } from "vitest";
import { createOAuthFetch } from "./oauth-fetch.ts";
import { type CanaryServer, startCanary } from "./testing/canary-server.ts";

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

async function startTestServer(answer?: Parameters<typeof startCanary>[0]): Promise<CanaryServer> {
  const started = await startCanary(answer);
  endings.push(started.close);
  return started;
}

const all = {
  authorization: "Bearer canary-token",
  cookie: "canary-cookie",
  "x-api-key": "canary-key",
  accept: "application/json",
};

it("sends the access token and other headers to the configured origin only (A57)", async () => {
  const [server, other] = [await startTestServer(), await startTestServer()];
  const guarded = createOAuthFetch(`${server.url}/mcp`);
  await guarded(`${server.url}/.well-known/x`, { headers: all });
  await guarded(`${other.url}/.well-known/x`, { headers: all });
  await guarded(`${other.url}/token`, {
    method: "POST",
    headers: {
      ...all,
      authorization: "Basic Y2xpZW50OnNlY3JldA==",
      "content-type": "application/x-www-form-urlencoded",
    },
    body: new URLSearchParams({ grant_type: "authorization_code" }),
  });
  expect(server.requests[0]?.headers).toMatchObject(all);
  expect(other.requests).toHaveLength(2);
  for (const { headers } of other.requests) expect(JSON.stringify(headers)).not.toContain("canary");
  expect(other.requests[1]?.headers).toMatchObject({ authorization: "Basic Y2xpZW50OnNlY3JldA==" });
});

it("sends messages to the configured origin only (A57)", async () => {
  const [server, other] = [await startTestServer(), await startTestServer()];
  const guarded = createOAuthFetch(`${server.url}/mcp`);
  const message = {
    method: "POST",
    headers: { ...all, accept: "application/json, text/event-stream" },
    body: "{}",
  };
  expect((await guarded(`${server.url}/mcp/`, message)).status).toBe(404);
  await expect(guarded(`${other.url}/mcp`, message)).rejects.toMatchObject({ cause: { code: "security" } });
  expect(other.requests).toEqual([]);
});

it("does not follow redirects", async () => {
  const other = await startTestServer();
  const server = await startTestServer((_, response) =>
    response.writeHead(302, { location: other.url }).end(),
  );
  const guarded = createOAuthFetch(`${server.url}/mcp`);
  expect((await guarded(`${server.url}/register`)).status).toBe(302);
  expect((await guarded(server.url, { headers: { accept: "text/event-stream" } })).status).toBe(302);
  expect(other.requests).toEqual([]);
});

it("aborts a response that is too large, does not arrive or does not end", async () => {
  let left = 0;
  const server = await startTestServer((request, response) => {
    response.once("close", () => {
      left += 1;
    });
    if (request.url === "/large") response.end(Buffer.alloc(1024 * 1024 + 1, "a"));
    if (request.url === "/endless") response.write("{");
  });
  await expect(createOAuthFetch(server.url)(`${server.url}/large`)).rejects.toMatchObject({
    name: "TypeError",
    cause: { code: "mcp_protocol" },
  });
  const short = createOAuthFetch(server.url, fetch, { timeoutMs: 200 });
  for (const path of ["/silent", "/endless"])
    await expect(short(`${server.url}${path}`)).rejects.toMatchObject({
      cause: { code: "mcp_disconnected" },
    });
  await vi.waitFor(() => expect(left).toBe(3), 30_000);
  const deaf = createOAuthFetch(server.url, () => new Promise(() => undefined), { timeoutMs: 200 });
  await expect(deaf(`${server.url}/silent`)).rejects.toMatchObject({ cause: { code: "mcp_disconnected" } });
});

it("does not limit the time or size of the messages themselves", async () => {
  const server = await startTestServer((_, response) => {
    response.write("data: 1\n\n");
    setTimeout(() => response.end(Buffer.alloc(2 * 1024 * 1024, "a")), 600);
  });
  const guarded = createOAuthFetch(server.url, fetch, { timeoutMs: 200 });
  const response = await guarded(server.url, { headers: { accept: "text/event-stream" } });
  expect((await response.text()).length).toBeGreaterThan(2 * 1024 * 1024);
});

it("keeps only the code of an error, and nothing of a response that is not JSON", async () => {
  const server = await startTestServer((request, response) => {
    if (request.url === "/odd") response.end("canary-text");
    else response.writeHead(400).end(request.url === "/known" ? known : '{"error":"canary_code"}');
  });
  const known = JSON.stringify({ error: "invalid_grant", error_description: "canary", error_uri: "canary" });
  const guarded = createOAuthFetch(server.url);
  expect(await (await guarded(`${server.url}/known`)).text()).toBe('{"error":"invalid_grant"}');
  expect(await (await guarded(`${server.url}/unknown`)).text()).toBe('{"error":"server_error"}');
  const error = await guarded(`${server.url}/odd`).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: "mcp_protocol" });
  expect(String(error)).not.toContain("canary");
});
