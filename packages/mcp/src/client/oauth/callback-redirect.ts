import type { AuthorizationRequest, Redirect } from "./redirect.ts";
import { createSignInError } from "./sign-in-error.ts";

/** A redirect to a page of the application's own server, for sign-ins that a user starts there. */
export type CallbackRedirect = Redirect & {
  /**
   * Connects to a server and lets its request for a sign-in pass; without this, it is refused. Resolves with the page of
   * the authorization server, or undefined if the server did not ask for a sign-in.
   */
  begin(options: BeginOptions): Promise<URL | undefined>;
  /** Passes on the query of a request to `url`. Returns false if no sign-in waits for it. */
  receive(query: URLSearchParams): boolean;
};

export type BeginOptions = {
  readonly server: string;
  /** Where the authorization server sends the user back to. */
  readonly url: string;
  /** Connects to the server, and settles when a sign-in that it asked for has ended. */
  connect(): Promise<void>;
};

export type CallbackOptions = {
  /** Added to the error of a server that requires sign-in. */
  readonly hint: string;
  readonly timeoutMs?: number;
};

type OpenSignIn = { readonly page: URL; accept(query: URLSearchParams): void };

const defaultTimeoutMs = 600_000;

/** Creates a redirect for a server with pages. It opens nothing by itself: users start their sign-ins. */
export function callbackRedirect({ hint, timeoutMs = defaultTimeoutMs }: CallbackOptions): CallbackRedirect {
  const begun = new Map<string, PromiseWithResolvers<URL>>();
  const openByState = new Map<string, OpenSignIn>();
  const pages = new Map<string, URL>();
  let callbackUrl = "http://127.0.0.1/";

  async function waitForResponse(request: AuthorizationRequest): Promise<URLSearchParams> {
    const { server, url, state, signal } = request;
    const response = Promise.withResolvers<URLSearchParams>();
    const timer = setTimeout(
      () => response.reject(createSignInError(server, "timed out. Try again")),
      timeoutMs,
    );
    timer.unref();
    const abort = () => response.reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    openByState.set(state, { page: url, accept: response.resolve });
    pages.set(server, url);
    try {
      signal.throwIfAborted();
      return await response.promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      openByState.delete(state);
      if (pages.get(server) === url) pages.delete(server);
    }
  }

  return {
    get url() {
      return callbackUrl;
    },
    async authorize(request) {
      const opener = begun.get(request.server);
      if (!opener) throw createSignInError(request.server, hint);
      begun.delete(request.server);
      opener.resolve(request.url);
      return waitForResponse(request);
    },
    async begin({ server, url, connect }) {
      // A user who closed the page gets it again.
      const open = pages.get(server);
      if (open) return open;
      callbackUrl = url;
      const opener = Promise.withResolvers<URL>();
      begun.set(server, opener);
      const connected = connect();
      connected.catch(() => undefined); // the status of the server reports it
      try {
        return await Promise.race([opener.promise, connected.then(() => undefined)]);
      } finally {
        begun.delete(server);
      }
    },
    receive(query) {
      const states = query.getAll("state");
      const open = states.length === 1 ? openByState.get(states[0] ?? "") : undefined;
      if (!open) return false;
      openByState.delete(states[0] ?? "");
      open.accept(query);
      return true;
    },
  };
}
