import { type Client, createClient } from "capstan/client";
import { noticingFetch } from "./sign-in.ts";

/** The server that has served this page. */
export const client: Client = createClient({ baseURL: location.origin, fetch: noticingFetch });
