import { UnauthorizedError } from "@modelcontextprotocol/client";
import type { SignInProvider } from "./oauth-provider.ts";
import { signInFailure } from "./sign-in-failure.ts";

/**
 * Makes an attempt, and when the server wants a person to sign in, waits for that and makes it once more. An attempt to
 * connect makes its own transport, with `authProvider: provider` and `fetch: provider.fetch`. Rejects with a named
 * error when the sign-in is refused, too late or cancelled by `signal`; other errors are passed on as they are.
 */
export async function withSignIn<T>(
  provider: SignInProvider,
  attempt: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw signInFailure(provider.server, error) ?? error;
  }
  await signedIn(provider, signal);
  try {
    return await attempt();
  } catch (error) {
    // A server that refuses its own token would ask again and again.
    if (error instanceof UnauthorizedError) provider.cancelSignIn();
    throw signInFailure(provider.server, error) ?? error;
  }
}

async function signedIn(provider: SignInProvider, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) provider.cancelSignIn();
  signal?.addEventListener("abort", provider.cancelSignIn);
  try {
    await provider.signedIn();
  } finally {
    signal?.removeEventListener("abort", provider.cancelSignIn);
  }
}
