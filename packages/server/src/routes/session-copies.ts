import { AgentError } from "capstan";
import { session } from "capstan/sessions";
import { z } from "zod";
import { defineRoute, type Route } from "./route.ts";
import { id, title } from "./schemas.ts";
import { blobFile, exported } from "../views/session-file.ts";
import { forkSession } from "../sessions/create-session.ts";
import { summary } from "./sessions.ts";

const params = z.strictObject({ sessionId: id });

/** What can be taken out of a session: a copy of its beginning, a file, a large result. */
export const sessionCopyRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/sessions/{sessionId}/fork",
    summary: "Make a new session of the first `at` facts; of none with 0. Starts nothing.",
    params,
    body: z.strictObject({ at: z.int().min(0), title: title.optional() }),
    answers: {
      201: { description: "The new session.", schema: summary },
      200: { description: "The same request has made it before.", schema: summary },
    },
    async handle({ params: { sessionId }, body, caller, key }, deployment) {
      const { made, isNew } = await forkSession(deployment, { caller, key }, { sessionId, ...body });
      return Response.json(await session(deployment.store, made).info(), { status: isNew ? 201 : 200 });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/sessions/{sessionId}/export",
    summary: "A session as a file: to read (`markdown`, `html`), or to import elsewhere (`json`).",
    params,
    query: z.strictObject({ format: z.enum(["markdown", "json", "html"]).default("markdown") }),
    answers: { 200: { description: "The file.", type: "text/markdown, text/html, application/json" } },
    async handle({ params: { sessionId }, query: { format } }, { store }) {
      const known = session(store, sessionId);
      const { title } = await known.info();
      return exported(await known.export(format), format, title);
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/sessions/{sessionId}/blobs/{handle}",
    summary: "What was too large for a result, whole.",
    params: z.strictObject({ sessionId: id, handle: id }),
    answers: { 200: { description: "The file.", type: "*/*" } },
    async handle({ params: { sessionId, handle } }, { store }) {
      const blob = await store.getBlob(sessionId, handle);
      if (!blob) throw new AgentError("not_found", `There is no blob "${handle}".`);
      return blobFile(blob, handle);
    },
  }),
];
