import { createMemoriesClient, type MemoriesClient } from "capstan/client/memories";
import { fetchDetectingSignIn } from "./sign-in.ts";

/** Memories of the signed-in user, on the server that served this page. */
export const memoriesClient: MemoriesClient = createMemoriesClient({
  baseURL: location.origin,
  fetch: fetchDetectingSignIn,
});
