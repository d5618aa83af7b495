import { UnauthorizedError } from "@modelcontextprotocol/client";
import { findSignInError } from "./find-sign-in-error.ts";
import type { SignInProvider } from "./oauth-provider.ts";

/**
 * Makes an attempt. If the server requires sign-in, waits for it and tries once more. An attempt to connect creates its
 * own transport, with `authProvider: provider` and `fetch: provider.fetch`. Rejects with an `AgentError` if the sign-in
 * is refused, times out or is cancelled by `signal`; other errors pass through.
 */
export async function withSignIn<T>(
  provider: SignInProvider,
  attempt: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw findSignInError(provider.server, error) ?? error;
  }
  await awaitSignIn(provider, signal);
  try {
    return await attempt();
  } catch (error) {
    // A server that refuses its own token would ask forever.
    if (error instanceof UnauthorizedError) provider.cancelSignIn();
    throw findSignInError(provider.server, error) ?? error;
  }
}

async function awaitSignIn(provider: SignInProvider, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) provider.cancelSignIn();
  signal?.addEventListener("abort", provider.cancelSignIn);
  try {
    await provider.waitForSignIn();
  } finally {
    signal?.removeEventListener("abort", provider.cancelSignIn);
  }
}
