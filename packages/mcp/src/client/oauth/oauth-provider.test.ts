import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { createOAuthProvider, type OAuthOptions, type SignInProvider } from "./oauth-provider.ts";
import type { Redirect } from "./redirect.ts";
import { memoryTokens, type TokenStore } from "./token-store.ts";

const serverUrl = "https://mcp.test/mcp";
const issuer = "https://auth.test";
const redirect: Redirect = { url: "http://127.0.0.1:1234/callback", authorize: () => expect.fail("asked") };
const registered = { client_id: "registered", redirect_uris: [redirect.url], issuer };
const tokens = { access_token: "access", refresh_token: "refresh", token_type: "Bearer", issuer };

function createProvider(store: TokenStore, options: Partial<OAuthOptions> = {}): SignInProvider {
  return createOAuthProvider({ server: "notes", serverUrl, tokens: store, redirect, ...options });
}

async function createFilledStore(): Promise<TokenStore> {
  const store = memoryTokens();
  const provider = createProvider(store);
  await provider.saveClientInformation?.(registered, { issuer });
  await provider.saveTokens(tokens, { issuer });
  await provider.tokens({ issuer });
  return store;
}

it("deletes exactly the invalidated data", async () => {
  const getRemaining = async (scope: "all" | "client" | "tokens" | "verifier" | "discovery") => {
    const store = await createFilledStore();
    const provider = createProvider(store);
    await provider.tokens({ issuer });
    await provider.invalidateCredentials?.(scope);
    return Object.keys(await store.read(serverUrl));
  };
  expect(await getRemaining("all")).toEqual([]);
  expect(await getRemaining("client")).toEqual(["tokens"]);
  expect(await getRemaining("tokens")).toEqual(["client"]);
  expect(await getRemaining("verifier")).toEqual(["client", "tokens"]);
  expect(await getRemaining("discovery")).toEqual(["client", "tokens"]);
});

it("does not give the tokens of a server to the same name at another URL", async () => {
  const store = await createFilledStore();
  expect(await createProvider(store).tokens()).toEqual(tokens);
  expect(await createProvider(store, { serverUrl: "https://thief.test/mcp" }).tokens()).toBeUndefined();
});

it("registers again when the redirect URL changed, because it is compared exactly (A58)", async () => {
  const store = await createFilledStore();
  expect(await createProvider(store).clientInformation()).toEqual(registered);
  const moved = { ...redirect, url: "http://127.0.0.1:1235/callback" };
  expect(await createProvider(store, { redirect: moved }).clientInformation()).toBeUndefined();
});

it("keeps a configured secret in the configuration, and binds it to the first authorization server", async () => {
  const store = memoryTokens();
  const provider = createProvider(store, { clientId: "known", clientSecret: "canary-secret" });
  expect(await provider.clientInformation()).toEqual({ client_id: "known", client_secret: "canary-secret" });
  await provider.saveClientInformation?.({ client_id: "known", client_secret: "canary-secret", issuer });
  expect(JSON.stringify(await store.read(serverUrl))).not.toContain("canary");
  expect(await provider.clientInformation()).toEqual({
    client_id: "known",
    client_secret: "canary-secret",
    issuer,
  });
  expect(await createProvider(store).clientInformation()).toBeUndefined();
});

it("describes itself as a public client with one redirect URL", () => {
  expect(createProvider(memoryTokens(), { clientName: "Notes", scope: "read" }).clientMetadata).toEqual({
    client_name: "Notes",
    redirect_uris: [redirect.url],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    scope: "read",
  });
});

it("reports an invalid client metadata URL", () => {
  const make = () => createProvider(memoryTokens(), { clientMetadataUrl: "http://app.test/client.json" });
  expect(make).toThrow(
    'The server "notes" has an invalid `clientMetadataUrl`: use an https URL with a path.',
  );
});

it("shows no URL that it did not prepare itself", async () => {
  const provider = createProvider(memoryTokens());
  await provider.saveDiscoveryState?.({ authorizationServerUrl: issuer });
  const url = new URL(`${issuer}/authorize?state=x&code_challenge=y`);
  url.searchParams.set("redirect_uri", redirect.url);
  expect(() => provider.redirectToAuthorization(url)).toThrow("the request was not started here");
  url.searchParams.set("redirect_uri", "https://thief.test/");
  expect(() => provider.redirectToAuthorization(url)).toThrow("its authorization server has changed");
  expect(() => provider.codeVerifier()).toThrow("the sign-in has ended");
});

it("shows the first of several concurrent sign-ins, with its own verifier", async () => {
  const asked = { ...redirect, authorize: () => new Promise<never>(() => undefined) };
  const provider = createProvider(memoryTokens(), { redirect: asked });
  await provider.saveDiscoveryState?.({ authorizationServerUrl: issuer });
  const states = [await provider.state?.(), await provider.state?.(), await provider.state?.()];
  const verifiers = ["first-verifier", "second-verifier", "third-verifier"];
  for (const verifier of verifiers) await provider.saveCodeVerifier(verifier);
  const [first, second, third] = verifiers.map((verifier, index) => {
    const url = new URL(`${issuer}/authorize`);
    url.searchParams.set("state", states[index] ?? "");
    url.searchParams.set("code_challenge", createHash("sha256").update(verifier).digest("base64url"));
    url.searchParams.set("redirect_uri", redirect.url);
    return url;
  }) as [URL, URL, URL];
  await provider.redirectToAuthorization(first);
  expect(await provider.codeVerifier()).toBe("first-verifier");
  expect(() => provider.redirectToAuthorization(second)).toThrow("is waiting for sign-in");
  await provider.saveDiscoveryState?.({ authorizationServerUrl: "https://thief.test" });
  expect(await provider.discoveryState?.()).toEqual({ authorizationServerUrl: issuer });
  provider.cancelSignIn();
  await expect(provider.waitForSignIn()).rejects.toThrow("it was cancelled");
  expect(await provider.discoveryState?.()).toBeUndefined();
  // Late, and when the first one has ended: whoever prepared it looks once at what came of that.
  expect(() => provider.redirectToAuthorization(third)).toThrow("is waiting for sign-in");
  for (const told of [second, third])
    expect(() => provider.redirectToAuthorization(told)).toThrow("the request was not started here");
});
