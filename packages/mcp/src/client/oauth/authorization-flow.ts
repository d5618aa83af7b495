import { createHash, randomBytes } from "node:crypto";
import {
  auth,
  type FetchLike,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { AgentError } from "capstan";
import { parseAuthorizationResponse } from "./authorization-response.ts";
import { checkDestination } from "./check-destination.ts";
import { findSignInError, toSignInError } from "./find-sign-in-error.ts";
import type { Redirect } from "./redirect.ts";
import { createSignInError } from "./sign-in-error.ts";

/** A sign-in in progress. Its secrets are kept in memory, until it ends. */
type PendingSignIn = {
  readonly state: string;
  readonly verifier: string;
  readonly discovery: OAuthDiscoveryState;
  readonly abort: AbortController;
};

type FlowContext = {
  readonly server: string;
  readonly serverUrl: URL;
  readonly redirect: Redirect;
  readonly fetch: FetchLike;
  readonly provider: () => OAuthClientProvider;
};

type AuthorizationFlow = Required<
  Pick<
    OAuthClientProvider,
    | "state"
    | "saveCodeVerifier"
    | "codeVerifier"
    | "saveDiscoveryState"
    | "discoveryState"
    | "redirectToAuthorization"
  >
> & { waitForSignIn(): Promise<void>; cancelSignIn(): void };

/**
 * The part of a provider that asks the user to sign in, once at a time. Concurrent requests may each prepare a sign-in:
 * the first is shown to the user, the others wait for it (`UnauthorizedError`).
 */
export function createAuthorizationFlow(context: FlowContext): AuthorizationFlow {
  const { server } = context;
  const states = new Set<string>();
  // States prepared next to the sign-in that was shown first: they are ours, but must not start a second one.
  const supersededStates = new Set<string>();
  const verifiers = new Map<string, string>();
  let discovery: OAuthDiscoveryState | undefined;
  let pending: PendingSignIn | undefined;
  let lastSignIn: Promise<void> | undefined;
  const assertNoPendingSignIn = (state?: string) => {
    const isSuperseded = state !== undefined && supersededStates.delete(state);
    if (pending || isSuperseded)
      throw new UnauthorizedError(`The server "${server}" is waiting for sign-in.`);
  };
  return {
    state() {
      assertNoPendingSignIn();
      const state = randomBytes(32).toString("base64url");
      states.add(state);
      return state;
    },
    saveCodeVerifier(verifier) {
      verifiers.set(computeChallenge(verifier), verifier);
    },
    codeVerifier() {
      if (!pending) throw createSignInError(server, "the sign-in has ended. Start again");
      return pending.verifier;
    },
    // Fixed during a sign-in: the code must go to the authorization server that issued it. Not kept longer, so that a
    // change of the authorization server is noticed.
    saveDiscoveryState(found) {
      if (!pending) discovery = found;
    },
    discoveryState: () => pending?.discovery,
    redirectToAuthorization(url) {
      const state = url.searchParams.get("state") ?? "";
      assertNoPendingSignIn(state);
      checkAuthorizationUrl(context, url, discovery);
      const verifier = verifiers.get(url.searchParams.get("code_challenge") ?? "");
      if (!states.has(state) || verifier === undefined || !discovery)
        throw createSignInError(server, "the request was not started here. Start again");
      states.delete(state);
      for (const other of states) supersededStates.add(other);
      states.clear();
      verifiers.clear();
      pending = { state, verifier, discovery, abort: new AbortController() };
      lastSignIn = completeSignIn(context, url, pending)
        .catch((error) => Promise.reject(toSignInError(server, error)))
        .finally(() => {
          pending = undefined;
        });
      lastSignIn.catch(() => undefined); // reported by `waitForSignIn`
    },
    waitForSignIn: () =>
      lastSignIn ?? Promise.reject(createSignInError(server, "the server does not say where")),
    cancelSignIn: () => pending?.abort.abort(createSignInError(server, "it was cancelled")),
  };
}

async function completeSignIn(
  { server, serverUrl, redirect, fetch, provider }: FlowContext,
  url: URL,
  pending: PendingSignIn,
): Promise<void> {
  const { state, abort } = pending;
  const answer = redirect.authorize({ server, url, state, signal: abort.signal }).catch((error) => {
    // An error of the application's redirect may contain the code.
    throw findSignInError(server, error) ?? createSignInError(server, "the response could not be received");
  });
  const accepted = parseAuthorizationResponse(
    server,
    await receiveUnlessAborted(answer, abort.signal),
    state,
  );
  await auth(provider(), { serverUrl, fetchFn: fetch, ...accepted });
}

/** Checks the URL before it is shown to the user. */
function checkAuthorizationUrl(
  { server, serverUrl, redirect }: FlowContext,
  url: URL,
  discovery: OAuthDiscoveryState | undefined,
): void {
  const problem = checkDestination(serverUrl, url);
  if (problem) throw new AgentError("security", `The sign-in page of "${server}" was refused: ${problem}.`);
  const endpoint = discovery?.authorizationServerMetadata?.authorization_endpoint;
  const expected = endpoint
    ? new URL(endpoint)
    : new URL("/authorize", discovery?.authorizationServerUrl ?? serverUrl);
  const isExpected = expected.origin === url.origin && expected.pathname === url.pathname;
  if (!isExpected || url.searchParams.get("redirect_uri") !== redirect.url)
    throw createSignInError(server, "its authorization server has changed. Try again");
}

function computeChallenge(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

async function receiveUnlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
