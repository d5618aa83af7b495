import { create, type StoreApi, type UseBoundStore } from "zustand";

type SignIn = {
  /** `unknown`: no request was rejected yet. */
  readonly state: "unknown" | "needed" | "trying";
  readonly error: string | undefined;
};

/** Whether the server requires sign-in. */
export const useSignIn: UseBoundStore<StoreApi<SignIn>> = create<SignIn>()(() => ({
  state: "unknown",
  error: undefined,
}));

/** Detects responses that require sign-in. */
export async function fetchDetectingSignIn(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.status === 401 && useSignIn.getState().state === "unknown")
    useSignIn.setState({ state: "needed" });
  return response;
}

/** Returns the one-time code of the URL and removes it, because URLs are stored and shared. */
export function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}
