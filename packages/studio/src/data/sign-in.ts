import { create, type StoreApi, type UseBoundStore } from "zustand";

type SignIn = {
  /** `unknown`: nobody has been refused yet. */
  readonly state: "unknown" | "needed" | "trying";
  readonly error: string | undefined;
};

/** Whether the server wants to know who is there. */
export const useSignIn: UseBoundStore<StoreApi<SignIn>> = create<SignIn>()(() => ({
  state: "unknown",
  error: undefined,
}));

/** Notices answers that ask for a sign-in. */
export async function noticingFetch(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.status === 401 && useSignIn.getState().state === "unknown")
    useSignIn.setState({ state: "needed" });
  return response;
}

/** The one-time code of the address, which is taken out of it: addresses are kept and shared. */
export function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}
