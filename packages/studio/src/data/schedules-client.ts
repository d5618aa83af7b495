import { createSchedulesClient, type SchedulesClient } from "capstan/client/schedules";
import { fetchDetectingSignIn } from "./sign-in.ts";

/** Schedules of the user, on the server that served this page. */
export const schedulesClient: SchedulesClient = createSchedulesClient({
  baseURL: location.origin,
  fetch: fetchDetectingSignIn,
});
