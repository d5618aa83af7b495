import { AgentError } from "capstan";
import { session, sessions } from "capstan/sessions";
import { z } from "zod";
import { readEvents } from "../runs/read-events.ts";
import { branchesOf } from "../sessions/branches.ts";
import { forkSession, makeSession } from "../sessions/create-session.ts";
import { removeSession } from "../sessions/remove-session.ts";
import { blobFile, exported } from "../views/session-file.ts";
import { defineRoute, type Route } from "./route.ts";
import { after, factPage, id, most, stream, title, usage } from "./schemas.ts";

const params = z.strictObject({ sessionId: id });

const infoFields = {
  id,
  title: z.string(),
  facts: z.int().min(0),
  createdAt: z.number(),
  updatedAt: z.number(),
} as const;

const run = z.object({
  runId: id,
  agent: z.string(),
  status: z.enum(["done", "limit", "failed", "cancelled", "waiting", "active"]),
  words: z.string(),
  startedAt: z.number(),
  updatedAt: z.number(),
  turns: z.number(),
  usage,
  cost: z.number(),
});

/** A session at a glance. */
const summaryFields = { ...infoFields, runs: z.array(run), usage, cost: z.number() } as const;
export const summary: z.ZodType = z.object(summaryFields);

const branch = { sessionId: id, at: z.int().min(0).describe("How many facts they have in common.") };
const branched = z.object({
  ...summaryFields,
  origin: z.object(branch).optional().describe("What it was forked from."),
  forks: z.array(z.object({ ...branch, title: z.string() })),
});

const found = z.object({
  id,
  title: z.string(),
  places: z.array(z.object({ seq: z.int().min(1), excerpt: z.string() })),
});

/** Of a body with a file: as many characters as that can have, so that one limit speaks for both. */
const mostBytes = 16 * 1024 * 1024;

/** The conversations of whoever asks. */
export const sessionRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/sessions",
    summary: "Your sessions, the newest first; with `search` those in which all these words were said.",
    query: z.strictObject({ search: z.string().min(1).max(1000).optional(), most }),
    answers: {
      200: {
        description: "With `search` the places, the best first; `most` counts those.",
        schema: z.object({ sessions: z.array(z.union([z.object(infoFields), found])) }),
      },
    },
    async handle({ query: { search, most }, caller: { scope } }, { store }) {
      const all = sessions(store);
      const found =
        search === undefined ? all.list({ scope, limit: most }) : all.search(search, { scope, limit: most });
      return Response.json({ sessions: await found });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/sessions",
    summary: "Make a session: an empty one, or with `file` one that was exported as JSON. Starts nothing.",
    body: z
      .strictObject({ title: title.optional(), file: z.string().min(1).max(mostBytes).optional() })
      .default({}),
    mostBytes,
    answers: {
      201: { description: "It has a new id, and is yours.", schema: summary },
      200: { description: "The same request has made it before.", schema: summary },
    },
    async handle({ body, caller, key }, deployment) {
      const { made, isNew } = await makeSession(deployment, { caller, key }, body);
      return Response.json(await session(deployment.store, made).info(), { status: isNew ? 201 : 200 });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/sessions/{sessionId}",
    summary: "A session with its runs, what they have used, and its forks.",
    params,
    answers: { 200: { description: "The session.", schema: branched } },
    handle: async ({ params: { sessionId } }, { store }) =>
      Response.json({
        ...(await session(store, sessionId).info()),
        ...(await branchesOf(store, sessionId)),
      }),
  }),
  defineRoute({
    method: "PATCH",
    path: "/api/sessions/{sessionId}",
    summary: "Rename a session. An empty title takes the old one away.",
    params,
    body: z.strictObject({ title }),
    answers: { 200: { description: "The session.", schema: summary } },
    async handle({ params: { sessionId }, body }, { store }) {
      const known = session(store, sessionId);
      await known.rename(body.title);
      return Response.json(await known.info());
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/api/sessions/{sessionId}",
    summary:
      "Remove a session for good. A run that is at work is cancelled first; 409 when it does not end in time.",
    params,
    answers: { 204: { description: "It is gone." } },
    async handle({ params: { sessionId } }, deployment) {
      await removeSession(deployment, sessionId);
      return new Response(null, { status: 204 });
    },
  }),
];

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
