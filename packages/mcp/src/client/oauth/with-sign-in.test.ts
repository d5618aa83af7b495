import { inspect } from "node:util";
import { findFreePort } from "@capstan/verification/find-free-port";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { loopbackRedirect } from "./loopback-redirect.ts";
import { createOAuthProvider, type OAuthOptions, type SignInProvider } from "./oauth-provider.ts";
import type { Redirect } from "./redirect.ts";
import { startCanary } from "./testing/canary-server.ts";
import {
  type Behavior,
  type OAuthServer,
  type RecordedRequest,
  startOAuthServer,
} from "./testing/oauth-server.ts";
import { memoryTokens, type TokenStore } from "./token-store.ts";
import { withSignIn } from "./with-sign-in.ts";

const endings: (() => Promise<unknown>)[] = [];
let logged: unknown[] = [];

beforeEach(() => {
  logged = [];
  for (const method of ["log", "info", "warn", "error", "debug"] as const)
    vi.spyOn(console, method).mockImplementation((...parameters) => void logged.push(parameters));
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const end of endings.splice(0).reverse()) await end();
});

async function startServer(behaviour: Behavior = {}): Promise<OAuthServer> {
  const server = await startOAuthServer(behaviour);
  endings.push(server.close);
  return server;
}

type World = {
  readonly server: OAuthServer;
  readonly provider: SignInProvider;
  readonly tokens: TokenStore;
  readonly shown: string[];
};

/** A person who agrees to everything, with a browser that follows. */
async function createWorld(behaviour: Behavior = {}, options: Partial<OAuthOptions> = {}): Promise<World> {
  const server = await startServer(behaviour);
  const tokens = memoryTokens();
  const shown: string[] = [];
  const redirect = loopbackRedirect({
    port: await findFreePort(),
    timeoutMs: 60_000,
    async open(url) {
      shown.push(url);
      await fetch(url.replace(behaviour.origin ?? server.origin, server.origin));
    },
  });
  const provider = createOAuthProvider({
    server: "notes",
    serverUrl: server.url,
    tokens,
    redirect,
    ...options,
  });
  return { server, provider, tokens, shown };
}

async function connectClient(provider: SignInProvider, url: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    authProvider: provider,
    fetch: provider.fetch,
    requestInit: { headers: { "x-api-key": "canary-configured-header" } },
  });
  await client.connect(transport);
  endings.push(() => client.close());
  return client;
}

const signIn = ({ provider, server }: World) =>
  withSignIn(provider, () => connectClient(provider, server.url));

async function getSignInError(work: Promise<unknown>): Promise<Error & { code: string }> {
  return work.then(
    () => expect.fail("It did not fail."),
    (error) => error,
  );
}

async function echo(client: Client, text: string): Promise<unknown> {
  const { content } = await client.callTool({ name: "echo", arguments: { text } });
  return content;
}

const findRequests = ({ requests }: OAuthServer, path: string): RecordedRequest[] =>
  requests.filter((one) => one.path.startsWith(path));

function expectNoSecrets({ server }: World, ...places: unknown[]): void {
  expect(server.secrets.size).toBeGreaterThan(0);
  const text = inspect([...places, logged], { depth: 12, maxStringLength: null, showHidden: true });
  for (const secret of server.secrets) expect(text).not.toContain(secret);
}

describe("a sign-in", () => {
  it("goes from the first 401 through registration, consent and PKCE to a tool call, and shows the URL in full (A55)", async () => {
    const all = await createWorld();
    const client = await signIn(all);
    expect(await echo(client, "hello")).toEqual([{ type: "text", text: "hello" }]);
    const [url, ...more] = all.shown.map((text) => new URL(text));
    expect(more).toEqual([]);
    expect(`${url?.origin}${url?.pathname}`).toBe(`${all.server.origin}/authorize`);
    expect(Object.fromEntries(url?.searchParams ?? [])).toMatchObject({
      code_challenge_method: "S256",
      redirect_uri: all.provider.redirectUrl,
      resource: all.server.url,
      scope: "tools",
    });
    expect(findRequests(all.server, "/register")).toHaveLength(1);
    expectNoSecrets(all, all.shown);
  });

  it("is not repeated when there are tokens", async () => {
    const all = await createWorld();
    await signIn(all);
    const again = await connectClient(all.provider, all.server.url);
    expect(await echo(again, "again")).toEqual([{ type: "text", text: "again" }]);
    expect(all.shown).toHaveLength(1);
  });

  it("refreshes silently, and concurrent calls use a refresh token once", async () => {
    const all = await createWorld();
    const client = await signIn(all);
    all.server.expire();
    const texts = ["a", "b", "c", "d"];
    const contents = await Promise.all(texts.map((text) => echo(client, text)));
    expect(contents).toEqual(texts.map((text) => [{ type: "text", text }]));
    const refreshes = findRequests(all.server, "/token").filter(({ body }) =>
      body.includes("refresh_token="),
    );
    expect(refreshes.map(({ body }) => body)).toHaveLength(new Set(refreshes.map(({ body }) => body)).size);
    expect(all.shown).toHaveLength(1);
    expectNoSecrets(all);
  });

  it("starts once for concurrent requests, and all of them wait for it", async () => {
    const all = await createWorld();
    const clients = await Promise.all([signIn(all), signIn(all), signIn(all)]);
    for (const client of clients) expect(await echo(client, "x")).toEqual([{ type: "text", text: "x" }]);
    expect(all.shown).toHaveLength(1);
  });

  it("starts again when the refresh token is invalid, without leaking it", async () => {
    const all = await createWorld();
    await signIn(all);
    all.server.expire();
    await all.tokens.update(all.server.url, ({ client, tokens }) => ({
      ...(client && { client }),
      ...(tokens && { tokens: { ...tokens, refresh_token: "canary-stale-refresh" } }),
    }));
    all.server.secrets.add("canary-stale-refresh");
    const client = await signIn(all);
    expect(await echo(client, "anew")).toEqual([{ type: "text", text: "anew" }]);
    expect(all.shown).toHaveLength(2);
    expect(logged.length).toBeGreaterThan(0);
    expectNoSecrets(all);
  });

  it("keeps tokens that another process refreshed while this one was refused", async () => {
    const all = await createWorld();
    await signIn(all);
    const before = await all.tokens.read(all.server.url);
    const other = createOAuthProvider({
      server: "notes",
      serverUrl: all.server.url,
      redirect: { url: String(all.provider.redirectUrl), authorize: () => expect.fail("asked") },
      tokens: {
        // It read the tokens before the other one wrote: its refresh token is used up.
        read: vi
          .fn(all.tokens.read)
          .mockResolvedValueOnce(before)
          .mockResolvedValueOnce(before)
          .mockResolvedValueOnce(before),
        update: all.tokens.update,
      },
    });
    all.server.expire();
    await connectClient(all.provider, all.server.url);
    const client = await connectClient(other, all.server.url);
    expect(await echo(client, "both")).toEqual([{ type: "text", text: "both" }]);
  });
});

describe("a sign-in that does not work", () => {
  it("fails with an error code when the user refuses", async () => {
    const all = await createWorld({
      callback: { error: "access_denied", error_description: "canary-page-text" },
    });
    const error = await getSignInError(signIn(all));
    expect(error).toMatchObject({ code: "mcp_disconnected", retryable: false });
    expect(error.message).toBe(
      'The server "notes" requires sign-in: it was refused (access_denied). Try again.',
    );
    expectNoSecrets(all, error);
  });

  it("fails with an error code on timeout", async () => {
    const redirect = loopbackRedirect({ port: await findFreePort(), timeoutMs: 200, open: () => undefined });
    const error = await getSignInError(signIn(await createWorld({}, { redirect })));
    expect(error.code).toBe("mcp_disconnected");
    expect(error.message).toContain("timed out after 0.2 s");
  });

  it("ends at once when it is cancelled, even if the application's redirect ignores the signal", async () => {
    const controller = new AbortController();
    const redirect: Redirect = {
      url: "https://app.test/callback",
      authorize() {
        setImmediate(() => controller.abort());
        return new Promise(() => undefined);
      },
    };
    const { provider, server } = await createWorld({}, { redirect });
    const error = await getSignInError(
      withSignIn(provider, () => connectClient(provider, server.url), controller.signal),
    );
    expect(error.message).toContain("it was cancelled");
  });

  it("accepts a code only with the state that was sent, once (A58)", async () => {
    const redirect: Redirect = {
      url: "https://app.test/callback",
      authorize: async () => new URLSearchParams({ code: "canary-foreign-code", state: "guessed" }),
    };
    const all = await createWorld({}, { redirect });
    all.server.secrets.add("canary-foreign-code");
    const error = await getSignInError(signIn(all));
    expect(error.code).toBe("security");
    expect(findRequests(all.server, "/token")).toEqual([]);
    expectNoSecrets(all, error);
  });

  it("sends a code only to the authorization server that issued it (A58)", async () => {
    const all = await createWorld({ callback: { iss: "https://other.test" } });
    const error = await getSignInError(signIn(all));
    expect(error.message).toContain("came from a different authorization server");
    expect(findRequests(all.server, "/token")).toEqual([]);
    expectNoSecrets(all, error);
  });

  it("refuses metadata that names another issuer", async () => {
    const all = await createWorld({ metadata: { issuer: "https://other.test" } });
    const error = await getSignInError(signIn(all));
    expect(error.code).toBe("mcp_disconnected");
    expect(all.shown).toEqual([]);
  });

  it("refuses metadata that is for another resource (A57)", async () => {
    const all = await createWorld({ resourceMetadata: { resource: "https://bank.test/mcp" } });
    const error = await getSignInError(signIn(all));
    expect(error.code).toBe("mcp_disconnected");
    expect(all.shown).toEqual([]);
  });

  it("keeps secrets out of errors and logs when the server repeats them", async () => {
    for (const body of ["json", "text"]) {
      const all = await createWorld({
        intercept: ({ path, body: form }, response) => {
          if (path !== "/token") return false;
          const echoed =
            body === "json" ? JSON.stringify({ error: "invalid_request", error_description: form }) : form;
          for (const value of new URLSearchParams(form).values())
            if (value.length > 30) all.server.secrets.add(value);
          response.writeHead(400).end(echoed);
          return true;
        },
      });
      const error = await getSignInError(signIn(all));
      expect(error.code).toBe("mcp_disconnected");
      expectNoSecrets(all, error);
    }
  });

  it("does not store or repeat a token that is not a valid header value", async () => {
    const all = await createWorld({ tokens: { access_token: "canary-token\nwith-a-break" } });
    all.server.secrets.add("canary-token");
    const error = await getSignInError(signIn(all));
    expect(error.message).toContain("it issued an invalid token");
    expectNoSecrets(all, error);
    expect((await all.tokens.read(all.server.url)).tokens).toBeUndefined();
  });

  it("gives up when the server does not accept its own token, and leaves no sign-in pending", async () => {
    let questions = 0;
    const redirect: Redirect = {
      url: "https://app.test/callback",
      async authorize({ url }) {
        questions += 1;
        if (questions > 1) return new Promise(() => undefined);
        const { headers } = await fetch(url, { redirect: "manual" });
        return new URL(headers.get("location") ?? "").searchParams;
      },
    };
    const all = await createWorld(
      { tokens: { access_token: "unknown", refresh_token: undefined } },
      { redirect },
    );
    const error = await getSignInError(signIn(all));
    expect(error.message).toBe(
      'The server "notes" requires sign-in: it does not accept the token it issued.',
    );
    await expect(all.provider.waitForSignIn()).rejects.toThrow("it was cancelled");
  });
});

describe("a hostile server", () => {
  const origin = "https://mcp.example.test";

  /** It is on the internet as far as anyone can see; everything else is reached as it is. */
  async function createHostileWorld(
    behaviour: Behavior,
    options: Partial<OAuthOptions> = {},
  ): Promise<World> {
    const all: World = await createWorld(
      { origin, ...behaviour },
      {
        fetch: (url, init) => fetch(String(url).replace(origin, all.server.origin), init),
        ...options,
      },
    );
    return all;
  }

  it.each([
    [
      "a registration endpoint",
      (url: string) => ({ metadata: { registration_endpoint: `${url}/register` } }),
    ],
    ["an authorization server", (url: string) => ({ resourceMetadata: { authorization_servers: [url] } })],
    ["its own metadata", (url: string) => ({ resourceMetadataUrl: `${url}/metadata` })],
    ["a token endpoint", (url: string) => ({ metadata: { token_endpoint: `${url}/token` } })],
  ])("cannot make us contact a local port by %s", async (_, behaviour) => {
    const inside = await startCanary();
    endings.push(inside.close);
    const all = await createHostileWorld(behaviour(inside.url));
    const error = await getSignInError(signIn(all));
    expect(error.code).toBe("security");
    expect(error.message).toContain(inside.url);
    expect(inside.requests).toEqual([]);
  });

  it.each([
    ["http://169.254.169.254/latest/meta-data", "it is not https"],
    ["https://169.254.169.254/latest/meta-data", "link-local"],
    ["https://10.0.0.1/", "in a private network"],
    ["https://[::ffff:127.0.0.1]/", "in a private network"],
    ["https://localhost/", "in a private network"],
    ["https://router.lan/", "in a private network"],
    ["http://elsewhere.test/", "it is not https"],
  ])("cannot make us contact %s", async (url, problem) => {
    const all = await createHostileWorld({ resourceMetadata: { authorization_servers: [url] } });
    const error = await getSignInError(signIn(all));
    expect(error.code).toBe("security");
    expect(error.message).toContain(problem);
    expect(all.shown).toEqual([]);
  });

  it.each([
    ["javascript:alert(1)", "invalid"],
    ["data:text/html,hello", "invalid"],
    ["file:///bin/sh", "was refused: it is not https"],
    ["http://phishing.test/", "was refused: it is not https"],
    ["https://127.0.0.1:8443/", "was refused: it is in a private network"],
    ["https://bank.test@phishing.test/", "was refused: it contains credentials"],
  ])("cannot make us show %s to the user (A55)", async (endpoint, problem) => {
    const all = await createHostileWorld({ metadata: { authorization_endpoint: endpoint } });
    const error = await getSignInError(signIn(all));
    expect(error.name).toBe("AgentError");
    expect(error.message).toContain(problem);
    expect(all.shown).toEqual([]);
  });

  it("cannot choose the redirect URI, state or code challenge (A58)", async () => {
    const endpoint = `${origin}/authorize?redirect_uri=https://thief.test/&state=known&code_challenge=known`;
    const all = await createHostileWorld({ metadata: { authorization_endpoint: endpoint } });
    await signIn(all);
    const query = new URL(all.shown[0] ?? "").searchParams;
    expect(query.getAll("redirect_uri")).toEqual([all.provider.redirectUrl]);
    expect(query.getAll("state")).not.toContain("known");
    expect(query.getAll("code_challenge")).not.toContain("known");
  });

  it("cannot have a header that is meant for it sent to its authorization server, nor a code sent on from there (A57)", async () => {
    const other = await startCanary((_, response) =>
      response.writeHead(307, { location: `${all.server.origin}/token` }).end(),
    );
    endings.push(other.close);
    // Both are on loopback, so that the other one may be asked.
    const all: World = await createWorld({}, { clientId: "known" });
    all.server.behavior.metadata = { token_endpoint: `${other.url}/token` };
    await getSignInError(signIn(all));
    expect(other.requests.map(({ path }) => path)).toEqual(["/token"]);
    expect(inspect(other.requests, { depth: 5 })).not.toContain("canary-configured-header");
    expect(findRequests(all.server, "/token")).toEqual([]);
  });

  it("redirects messages to nowhere but itself (A57)", async () => {
    const thief = await startCanary();
    endings.push(thief.close);
    let isMoved = false;
    const all = await createWorld({
      intercept: ({ path }, response) => {
        if (path !== "/mcp" || !isMoved) return false;
        response.writeHead(307, { location: `${thief.url}/mcp` }).end();
        return true;
      },
    });
    await signIn(all);
    isMoved = true;
    all.server.expire();
    await getSignInError(connectClient(all.provider, all.server.url));
    expect(thief.requests).toEqual([]);
  });
});
