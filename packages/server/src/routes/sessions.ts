import { AgentError } from "capstan";
import { session, sessions } from "capstan/sessions";
import { z } from "zod";
import { readEvents } from "../runs/read-events.ts";
import { startRun } from "../runs/start-run.ts";
import { loadBranches } from "../sessions/branches.ts";
import { createSession, forkSession } from "../sessions/create-session.ts";
import { loadListDetails } from "../sessions/list-details.ts";
import { readFactPage } from "../sessions/read-fact-page.ts";
import { removeSession } from "../sessions/remove-session.ts";
import { createBlobResponse, createExportResponse } from "../views/session-file.ts";
import { defineRoute, type Route } from "./route.ts";
import { after, fact, factPage, id, limit, stream, title, usage, view } from "./schemas.ts";

const params = z.strictObject({ sessionId: id });
const startedRun = z.object({ runId: id, sessionId: id });

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
  imported: z.literal(true).optional().describe("The run comes from a file."),
});

const summaryFields = { ...infoFields, runs: z.array(run), usage, cost: z.number() } as const;
export const summary: z.ZodType = z.object(summaryFields);

const branch = { sessionId: id, at: z.int().min(0).describe("Number of facts in common.") };
const branched = z.object({
  ...summaryFields,
  origin: z.object(branch).optional().describe("The session it was forked from."),
  forks: z.array(z.object({ ...branch, title: z.string() })),
});

const found = z.object({
  id,
  title: z.string(),
  places: z.array(z.object({ seq: z.int().min(1), excerpt: z.string() })),
});

const detailFields = {
  agent: z.string().optional().describe("The agent of the newest run, apart from the calls of MCP Apps."),
  state: z.enum(["active", "waiting", "ended"]).optional().describe("The state of the newest run."),
  status: z
    .enum(["done", "limit", "failed", "cancelled"])
    .optional()
    .describe("How the newest run has ended."),
  origin: id.optional().describe("The session it was forked from."),
} as const;

type ListPosition = { readonly id: string; readonly updatedAt: number };

function encodeCursor({ id, updatedAt }: ListPosition): string {
  return JSON.stringify([updatedAt, id]);
}

const position = z.tuple([z.number(), z.string()]);

function decodeCursor(cursor: string): ListPosition {
  try {
    const [updatedAt, id] = position.parse(JSON.parse(cursor));
    return { id, updatedAt };
  } catch {
    throw new AgentError("invalid_input", "Invalid `cursor`. Use `next` of the previous page.");
  }
}

/** A file may have as many characters as the body has bytes, so one limit covers both. */
const maxBytes = 16 * 1024 * 1024;

export const sessionRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/sessions",
    summary: "List your sessions, newest first; with `search`, only sessions that contain all words.",
    query: z.strictObject({
      search: z.string().min(1).max(1000).optional(),
      most: limit,
      cursor: z.string().max(1000).optional().describe("`next` of the previous page."),
      details: z
        .literal("true")
        .optional()
        .describe("Adds `agent`, `state`, `status` and `origin` to each session of a page."),
    }),
    responses: {
      200: {
        description:
          "With `search`, the matches, best first; `most` limits their number. Without, a page; `next` is set if there are more.",
        schema: z.object({
          sessions: z.array(z.union([z.object({ ...infoFields, ...detailFields }), found])),
          next: z.string().optional(),
        }),
      },
    },
    async handle({ query: { search, most, cursor, details }, caller: { scope } }, { store }) {
      if (search !== undefined)
        return Response.json({ sessions: await sessions(store).search(search, { scope, limit: most }) });
      const after = cursor === undefined ? {} : { after: decodeCursor(cursor) };
      const page = await sessions(store).list({ scope, limit: most, ...after });
      const last = page.length === most ? page.at(-1) : undefined;
      const getDetails =
        details &&
        (await loadListDetails(
          store,
          page.map(({ id }) => id),
        ));
      const listed = getDetails ? page.map((one) => ({ ...one, ...getDetails(one.id) })) : page;
      return Response.json({ sessions: listed, ...(last && { next: encodeCursor(last) }) });
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/sessions",
    summary: "Create a session: empty, or from a JSON export in `file`. Starts no run.",
    body: z
      .strictObject({ title: title.optional(), file: z.string().min(1).max(maxBytes).optional() })
      .default({}),
    maxBytes,
    responses: {
      201: { description: "The session, with a new id.", schema: summary },
      200: { description: "The same request has already created this session.", schema: summary },
    },
    async handle({ body, caller, key }, deployment) {
      const { value: made, isNew } = await createSession(deployment, { caller, key }, body);
      return Response.json(await session(deployment.store, made).info(), { status: isNew ? 201 : 200 });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/sessions/{sessionId}",
    summary: "Get a session with its runs, usage and forks.",
    params,
    responses: { 200: { description: "The session.", schema: branched } },
    handle: async ({ params: { sessionId } }, { store }) =>
      Response.json({
        ...(await session(store, sessionId).info()),
        ...(await loadBranches(store, sessionId)),
      }),
  }),
  defineRoute({
    method: "PATCH",
    path: "/api/sessions/{sessionId}",
    summary: "Rename a session. An empty title removes it.",
    params,
    body: z.strictObject({ title }),
    responses: { 200: { description: "The session.", schema: summary } },
    async handle({ params: { sessionId }, body }, { store }) {
      const known = session(store, sessionId);
      await known.rename(body.title);
      return Response.json(await known.info());
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/api/sessions/{sessionId}",
    summary: "Remove a session. Cancels an active run first; 409 if that does not end in time.",
    params,
    responses: { 204: { description: "Removed." } },
    async handle({ params: { sessionId } }, deployment) {
      await removeSession(deployment, sessionId);
      return new Response(null, { status: 204 });
    },
  }),
];

export const sessionCopyRoutes: readonly Route[] = [
  defineRoute({
    method: "POST",
    path: "/api/sessions/{sessionId}/compact",
    summary: "Summarize the history of a session now, in a run. Its text says how many tokens that saved.",
    params,
    body: z
      .strictObject({ agent: z.string().max(200).optional(), model: z.string().max(200).optional() })
      .default({}),
    startsWork: true,
    responses: {
      201: { description: "The run has started.", schema: startedRun },
      200: { description: "The same request has already started this run.", schema: startedRun },
    },
    async handle({ params: { sessionId }, body, caller, key }, deployment) {
      await session(deployment.store, sessionId).info();
      const request = { ...body, key, sessionId, input: { history: [] }, compact: true as const };
      const { runId, isNew } = await startRun(deployment, caller, request);
      return Response.json(
        { runId, sessionId },
        { status: isNew ? 201 : 200, headers: { location: `/api/runs/${encodeURIComponent(runId)}` } },
      );
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/sessions/{sessionId}/fork",
    summary: "Fork a session from its first `at` facts; 0 creates an empty one. Starts no run.",
    params,
    body: z.strictObject({ at: z.int().min(0), title: title.optional() }),
    responses: {
      201: { description: "The new session.", schema: summary },
      200: { description: "The same request has already created this session.", schema: summary },
    },
    async handle({ params: { sessionId }, body, caller, key }, deployment) {
      const { value: made, isNew } = await forkSession(deployment, { caller, key }, { sessionId, ...body });
      return Response.json(await session(deployment.store, made).info(), { status: isNew ? 201 : 200 });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/sessions/{sessionId}/export",
    summary: "Export a session: `markdown` or `html` to read, `json` to import.",
    params,
    query: z.strictObject({ format: z.enum(["markdown", "json", "html"]).default("markdown") }),
    responses: { 200: { description: "The file.", type: "text/markdown, text/html, application/json" } },
    async handle({ params: { sessionId }, query: { format } }, { store }) {
      const known = session(store, sessionId);
      return createExportResponse(known.exportParts(format), format, await known.title());
    },
  }),
  defineRoute({
    method: "GET",
    path: "/api/sessions/{sessionId}/blobs/{handle}",
    summary: "Download generated media, or a result that was too large for the log.",
    params: z.strictObject({ sessionId: id, handle: id }),
    responses: { 200: { description: "The file.", type: "*/*" } },
    async handle({ params: { sessionId, handle } }, { store }) {
      const blob = await store.getBlob(sessionId, handle);
      if (!blob) throw new AgentError("not_found", `Blob not found: "${handle}".`);
      return createBlobResponse(blob, handle);
    },
  }),
];

export const sessionEventRoutes: readonly Route[] = [
  defineRoute({
    method: "GET",
    path: "/api/sessions/{sessionId}/facts",
    summary: "Get the last `limit` facts of a session, or the last ones before the position `before`.",
    params,
    query: z.strictObject({ before: z.coerce.number().int().min(1).optional(), limit }),
    responses: {
      200: {
        description:
          "In order. `start` is the first fact of the run in which the page starts; `previous` is the `before` of the page before it.",
        schema: z.object({
          facts: z.array(fact),
          start: fact.optional(),
          previous: z.int().min(1).optional(),
        }),
      },
    },
    handle: async ({ params: { sessionId }, query }, { store }) =>
      Response.json(await readFactPage(store, sessionId, query)),
  }),
  defineRoute({
    method: "GET",
    path: "/api/sessions/{sessionId}/events",
    summary:
      "Stream the events of all runs of a session: stored events after `Last-Event-ID` (or `after`), then live ones, without end. With `Accept: application/json`, the stored facts. With `events`, a view of them.",
    params: z.strictObject({ sessionId: id }),
    query: z.strictObject({ after, stream, events: view }),
    responses: {
      200: {
        description: "`id` is the position of a fact; deltas have none. Every event of a view has an id.",
        type: "text/event-stream",
        schema: factPage,
      },
    },
    handle({ params: { sessionId }, query, caller, request, lastEventId }, deployment) {
      const place = { sessionId, after: lastEventId ?? query.after };
      return readEvents({ request, caller, stream: query.stream, view: query.events, ...place }, deployment);
    },
  }),
];
