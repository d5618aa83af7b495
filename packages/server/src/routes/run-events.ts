import { z } from "zod";
import { defineRoute, type Route } from "./route.ts";
import { readEvents } from "../runs/read-events.ts";
import { after, factPage, id, stream } from "./schemas.ts";

/** The events of a run, from a position on. */
export const runEventRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/runs/{runId}/events",
    summary:
      "The events of a run: stored ones behind `Last-Event-ID` (or `after`), then live, until it ends. With `Accept: application/json` the stored facts.",
    params: z.strictObject({ runId: id }),
    query: z.strictObject({ after, stream }),
    answers: {
      200: {
        description: "`id` is the position of a fact; deltas have none.",
        type: "text/event-stream",
        schema: factPage,
      },
    },
    async handle({ params: { runId }, query, caller, request, lastEventId }, deployment) {
      const sessionId = (await deployment.store.findSession(runId)) ?? "";
      const place = { runId, sessionId, after: lastEventId ?? query.after };
      return readEvents({ request, caller, stream: query.stream, ...place }, deployment);
    },
  }),
];
