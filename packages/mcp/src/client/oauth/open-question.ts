import { createHash, randomBytes } from "node:crypto";
import {
  auth,
  type FetchLike,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { AgentError } from "capstan";
import { acceptedAnswer } from "./accepted-answer.ts";
import { destinationProblem } from "./destination.ts";
import type { Redirect } from "./redirect.ts";
import { certainSignInFailure, signInFailure, signInProblem } from "./sign-in-failure.ts";

/** One question to a person. What belongs to it lives as long as it does, in memory alone. */
type Question = {
  readonly state: string;
  readonly verifier: string;
  readonly discovery: OAuthDiscoveryState;
  readonly abort: AbortController;
};

type Setting = {
  readonly server: string;
  readonly serverUrl: URL;
  readonly redirect: Redirect;
  readonly fetch: FetchLike;
  readonly provider: () => OAuthClientProvider;
};

type Asking = Required<
  Pick<
    OAuthClientProvider,
    | "state"
    | "saveCodeVerifier"
    | "codeVerifier"
    | "saveDiscoveryState"
    | "discoveryState"
    | "redirectToAuthorization"
  >
> & { signedIn(): Promise<void>; cancelSignIn(): void };

/**
 * The part of a provider that asks a person. There is one question at a time. Requests that run side by side may all
 * prepare one: the first that is ready is asked, and the others wait for it (`UnauthorizedError`).
 */
export function openQuestion(setting: Setting): Asking {
  const { server } = setting;
  const states = new Set<string>();
  // Prepared beside a question that was asked first, and may be answered already: no question of a stranger.
  const overtaken = new Set<string>();
  const verifiers = new Map<string, string>();
  let discovery: OAuthDiscoveryState | undefined;
  let open: Question | undefined;
  let latest: Promise<void> | undefined;
  const refuseSecond = (state?: string) => {
    const wasOvertaken = state !== undefined && overtaken.delete(state);
    if (open || wasOvertaken) throw new UnauthorizedError(`The server "${server}" waits for you to sign in.`);
  };
  return {
    state() {
      refuseSecond();
      const state = randomBytes(32).toString("base64url");
      states.add(state);
      return state;
    },
    saveCodeVerifier(verifier) {
      verifiers.set(challengeOf(verifier), verifier);
    },
    codeVerifier() {
      if (!open) throw signInProblem(server, "the sign-in is over. Start again");
      return open.verifier;
    },
    // Fixed while a question is open: the code must go to the authorization server that was asked. Not kept longer, so
    // that a server that changes its authorization server is noticed.
    saveDiscoveryState(found) {
      if (!open) discovery = found;
    },
    discoveryState: () => open?.discovery,
    redirectToAuthorization(url) {
      const state = url.searchParams.get("state") ?? "";
      refuseSecond(state);
      checkShown(setting, url, discovery);
      const verifier = verifiers.get(url.searchParams.get("code_challenge") ?? "");
      if (!states.has(state) || verifier === undefined || !discovery)
        throw signInProblem(server, "the question was not ours. Start again");
      states.delete(state);
      for (const other of states) overtaken.add(other);
      states.clear();
      verifiers.clear();
      open = { state, verifier, discovery, abort: new AbortController() };
      latest = ask(setting, url, open)
        .catch((error) => Promise.reject(certainSignInFailure(server, error)))
        .finally(() => {
          open = undefined;
        });
      latest.catch(() => undefined); // who waits gets it from `signedIn`
    },
    signedIn: () => latest ?? Promise.reject(signInProblem(server, "it does not say where")),
    cancelSignIn: () => open?.abort.abort(signInProblem(server, "it was cancelled")),
  };
}

async function ask(
  { server, serverUrl, redirect, fetch, provider }: Setting,
  url: URL,
  question: Question,
): Promise<void> {
  const { state, abort } = question;
  const answer = redirect.authorize({ server, url, state, signal: abort.signal }).catch((error) => {
    // What an application's own redirect throws may have the code in it.
    throw signInFailure(server, error) ?? signInProblem(server, "the answer could not be received");
  });
  const accepted = acceptedAnswer(server, await untilAborted(answer, abort.signal), state);
  await auth(provider(), { serverUrl, fetchFn: fetch, ...accepted });
}

/** Nothing is shown to a person that is not checked. */
function checkShown(
  { server, serverUrl, redirect }: Setting,
  url: URL,
  discovery: OAuthDiscoveryState | undefined,
): void {
  const problem = destinationProblem(serverUrl, url);
  if (problem)
    throw new AgentError("security", `The page to sign in at "${server}" is not shown: ${problem}.`);
  const endpoint = discovery?.authorizationServerMetadata?.authorization_endpoint;
  const expected = endpoint
    ? new URL(endpoint)
    : new URL("/authorize", discovery?.authorizationServerUrl ?? serverUrl);
  const isExpected = expected.origin === url.origin && expected.pathname === url.pathname;
  if (!isExpected || url.searchParams.get("redirect_uri") !== redirect.url)
    throw signInProblem(server, "its authorization server has changed. Try again");
}

function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
