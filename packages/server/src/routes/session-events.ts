import { z } from "zod";
import { defineRoute, type Route } from "./route.ts";
import { readEvents } from "../runs/read-events.ts";
import { after, factPage, id, stream } from "./schemas.ts";

/** The events of a session, from a position on. */
export const sessionEventRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/sessions/{sessionId}/events",
    summary:
      "The events of all runs of a session: stored ones behind `Last-Event-ID` (or `after`), then live, without end. With `Accept: application/json` the stored facts.",
    params: z.strictObject({ sessionId: id }),
    query: z.strictObject({ after, stream }),
    answers: {
      200: {
        description: "`id` is the position of a fact; deltas have none.",
        type: "text/event-stream",
        schema: factPage,
      },
    },
    handle({ params: { sessionId }, query, caller, request, lastEventId }, deployment) {
      const place = { sessionId, after: lastEventId ?? query.after };
      return readEvents({ request, caller, stream: query.stream, ...place }, deployment);
    },
  }),
];
