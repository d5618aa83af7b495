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

let isDetecting = true;

/** Detects responses that require sign-in. */
export async function fetchDetectingSignIn(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.status === 401 && isDetecting && useSignIn.getState().state === "unknown")
    useSignIn.setState({ state: "needed" });
  return response;
}

/** Ignores responses that require sign-in, while `change` changes who is signed in. */
export async function withoutDetection<Value>(change: () => Promise<Value>): Promise<Value> {
  isDetecting = false;
  try {
    return await change();
  } finally {
    isDetecting = true;
  }
}

/** Returns the one-time code of the URL and removes it, because URLs are stored and shared. */
export function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}
