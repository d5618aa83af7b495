import { type Client, createClient } from "capstan/client";
import { fetchDetectingSignIn } from "./sign-in.ts";

/** Client of the server that served this page. */
export const client: Client = createClient({ baseURL: location.origin, fetch: fetchDetectingSignIn });
