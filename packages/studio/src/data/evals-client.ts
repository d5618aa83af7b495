import { createEvalsClient, type EvalsClient } from "capstan/client/evals";
import { fetchDetectingSignIn } from "./sign-in.ts";

/** Datasets and experiments of the server that served this page. */
export const evalsClient: EvalsClient = createEvalsClient({
  baseURL: location.origin,
  fetch: fetchDetectingSignIn,
});
