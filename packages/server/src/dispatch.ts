import { createHash } from "node:crypto";
import { AgentError } from "capstan";
import { findQueuedRun, getScope } from "capstan/sessions";
import { Hono } from "hono";
import type { z } from "zod";
import type { Authenticator } from "./access/authenticate.ts";
import type { Caller } from "./access/caller.ts";
import type { OpenRequest } from "./access/open-requests.ts";
import type { Deployment } from "./deployment.ts";
import { createInternalProblem, createProblemResponse, isClientError } from "./http/problem.ts";
import { type BodyLimits, readJsonBody } from "./http/read-body.ts";
import type { StaticFiles } from "./http/static-files.ts";
import type { Route, RouteRequest } from "./routes/route.ts";

type RequestValues = Readonly<Record<string, unknown>>;

export type DispatchContext = Pick<Deployment, "admission" | "shutdownSignal" | "drain"> & {
  readonly authenticate: Authenticator;
  /** Returns the services as this caller may see them. */
  getDeployment(caller: Caller): Deployment;
};

type MatchedRequest = { readonly request: Request; readonly params: RequestValues };
type CountedRequest = MatchedRequest & { readonly open: OpenRequest };

/** Handles a request to a route. New work is refused before anything is done for it if there is no capacity. */
export async function dispatch(
  route: Route,
  matched: MatchedRequest,
  context: DispatchContext,
): Promise<Response> {
  const { admission, shutdownSignal, drain } = context;
  if (route.startsWork && shutdownSignal.aborted)
    throw new AgentError("draining", "The server is shutting down. Try again in a moment.");
  if (route.startsWork && drain.isOn)
    throw new AgentError("draining", "The server accepts no new work for now. Try again later.");
  if (route.startsWork) admission.assertCapacity({ canWait: route.canWait ?? prefersAsync(matched.request) });
  const open = admission.addRequest();
  try {
    return await handleRequest(route, { ...matched, open }, context);
  } finally {
    open.end();
  }
}

/** Whether the client asks for `202 Accepted` instead of a started run: `Prefer: respond-async` (RFC 7240). */
function prefersAsync({ headers }: Request): boolean {
  const preferences = (headers.get("prefer") ?? "").split(",");
  return preferences.some((preference) => preference.split(";")[0]?.trim().toLowerCase() === "respond-async");
}

/** Authenticates the caller, validates the input, checks ownership, then calls the handler. */
async function handleRequest(
  route: Route,
  { request, params, open }: CountedRequest,
  { getDeployment, authenticate }: DispatchContext,
): Promise<Response> {
  const caller = route.access === "anyone" ? anonymousCaller : await authenticate(request);
  const deployment = getDeployment(caller);
  if (route.access !== "anyone") deployment.requestLog?.note({ user: caller.user });
  if (route.access === "admin" && !caller.isAdmin)
    throw new AgentError("forbidden", "This requires an admin key.");
  if (route.method !== "GET") open.startReading(getSender(route, caller));
  const readBody = async (schema: z.ZodType) => {
    const given = await readJsonBody(request, getBodyLimits(route));
    open.endReading();
    return validateInput("body", schema, given);
  };
  const asked: RouteRequest<unknown, unknown, unknown> = {
    caller,
    request,
    endReading: open.endReading,
    key: computeIdempotencyKey(request, caller),
    lastEventId: parseLastEventId(request),
    canWait: prefersAsync(request),
    params: validateInput("path", route.params, params),
    query: validateInput("query", route.query, parseQuery(request)),
    body: route.body && (await readBody(route.body)),
  };
  await assertOwnership(asked, deployment);
  // After the check: the path of a request that it refuses may contain anything.
  deployment.requestLog?.note({ runId: (asked.params as { readonly runId?: string }).runId });
  return route.handle(asked as RouteRequest<never, never, never>, deployment);
}

/** Callers without a key share one limit. The operator has none, nor has the local user while no key exists. */
function getSender({ access }: Route, { scope }: Caller): string | undefined {
  if (access === "anyone") return "anyone";
  return scope === "" ? undefined : `user ${scope}`;
}

function getBodyLimits({ maxBytes }: Route): BodyLimits {
  return maxBytes === undefined ? {} : { maxBytes };
}

const anonymousCaller: Caller = {
  user: "",
  scope: "",
  isAdmin: false,
  quotas: { streams: 0, concurrentRuns: 0 },
};

/** Rejects ids that belong to another user, with the same error as for ids that do not exist. */
async function assertOwnership(
  { caller, params, query, body }: RouteRequest<unknown, unknown, unknown>,
  { store }: Deployment,
): Promise<void> {
  for (const values of [params, query, body] as (RequestValues | undefined)[]) {
    const { sessionId, runId, otherRunId, scheduleId } = values ?? {};
    if (typeof scheduleId === "string" && getScope(scheduleId) !== caller.scope)
      throw new AgentError("not_found", `Schedule "${scheduleId}" not found.`);
    if (typeof sessionId === "string") {
      const isTheirs =
        getScope(sessionId) === caller.scope && (await store.getSession(sessionId)) !== undefined;
      if (!isTheirs) throw new AgentError("not_found", `Session not found: "${sessionId}".`);
    }
    for (const run of [runId, otherRunId]) {
      if (typeof run !== "string") continue;
      const found = (await store.findSession(run)) ?? (await findQueuedRun(store, run))?.sessionId;
      if (found === undefined || getScope(found) !== caller.scope)
        throw new AgentError("unknown_run", `Run not found: "${run}".`);
    }
  }
}

function validateInput(where: string, schema: z.ZodType, value: unknown): unknown {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const { path, message } = findClosestIssue(error.issues.map((issue) => simplifyIssue(issue, value)));
  const at = path.length ? ` at ${path.join(".")}` : "";
  throw new AgentError("invalid_input", `Invalid ${where}${at}: ${message}.`);
}

type Issue = z.core.$ZodIssue;

/** Query numbers are coerced from text; replaces zod's "received NaN" with a message about the field. */
function simplifyIssue(issue: Issue, value: unknown): Issue {
  if (issue.code !== "invalid_type" || !issue.message.endsWith("received NaN")) return issue;
  const [field] = issue.path;
  const isThere = field !== undefined && Object.hasOwn(Object(value), field);
  return { ...issue, message: isThere ? "must be a number" : "is required" };
}

/** For a union, reports the issue of the variant whose top-level type matched. */
function findClosestIssue([issue]: readonly Issue[]): Pick<Issue, "path" | "message"> {
  if (issue?.code !== "invalid_union") return issue ?? { path: [], message: "is invalid" };
  const isMeant = (issues: readonly Issue[]) =>
    !issues.some(({ path, code }) => path.length === 0 && code === "invalid_type");
  const form = issue.errors.find(isMeant);
  if (!form?.length) return issue;
  const { path, message } = findClosestIssue(form);
  return { path: [...issue.path, ...path], message };
}

function parseQuery(request: Request): RequestValues {
  const entries = [...new URL(request.url).searchParams];
  const seen = new Set<string>();
  for (const [name] of entries) {
    if (seen.has(name)) throw new AgentError("invalid_input", `Duplicate query parameter "${name}".`);
    seen.add(name);
  }
  return Object.fromEntries(entries);
}

const maxKeyLength = 256;

/** Hashes the header with the user, method and path, so that keys of different users or routes never collide. */
function computeIdempotencyKey(request: Request, { scope }: Caller): string | undefined {
  const given = request.headers.get("idempotency-key");
  if (given === null) return undefined;
  if (given.length === 0 || given.length > maxKeyLength)
    throw new AgentError("invalid_input", `Idempotency-Key must have 1 to ${maxKeyLength} characters.`);
  const { pathname } = new URL(request.url);
  return createHash("sha256")
    .update(JSON.stringify([scope, request.method, pathname, given]))
    .digest("base64url");
}

/** Returns the position of the fact. The id of a frame of a view also says how far its reader has come after it. */
function parseLastEventId(request: Request): number | undefined {
  const given = request.headers.get("last-event-id");
  if (given === null || given === "") return undefined;
  if (!/^\d{1,15}(?:-\d{1,9}){0,2}$/.test(given))
    throw new AgentError("invalid_input", "Last-Event-ID must be the `id` of an event of this stream.");
  return Number.parseInt(given, 10);
}

export type RouterOptions = {
  readonly routes: readonly Route[];
  handle(route: Route, asked: { request: Request; params: Record<string, string> }): Promise<Response>;
  readonly files: StaticFiles | undefined;
  report(thrown: unknown): string;
};

type Router = (request: Request) => Promise<Response>;

/**
 * Creates the request router. Unmatched GET requests fall back to static files; other requests fail with `no_route`.
 */
export function createRouter({ routes, handle: answer, files, report }: RouterOptions): Router {
  const app = new Hono();
  const methods = new Map<string, string[]>();
  for (const route of routes) {
    // A parameter named `path` takes the rest of the URL, with slashes.
    const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1").replace(/:path$/, ":path{.+}");
    methods.set(path, [...(methods.get(path) ?? []), route.method]);
    app.on(route.method, path, ({ req }) => answer(route, { request: req.raw, params: req.param() }));
  }
  for (const [path, known] of methods) app.all(path, ({ req }) => respondNotAllowed(req.method, known));
  app.notFound(({ req }) => {
    const file = req.method === "GET" ? files?.(req.raw) : undefined;
    if (file) return file;
    throw new AgentError("no_route", `Route not found: ${req.path.slice(0, 200)}. See /openapi.json.`);
  });
  app.onError((thrown) =>
    isClientError(thrown) ? createProblemResponse(thrown) : createInternalProblem(report(thrown)),
  );
  return async (request) => app.fetch(request);
}

function respondNotAllowed(method: string, known: readonly string[]): Response {
  const allow = known.flatMap((name) => (name === "GET" ? ["GET", "HEAD"] : [name])).join(", ");
  const message = `Method ${method.slice(0, 20)} is not allowed. Use ${allow}.`;
  return createProblemResponse(new AgentError("method_not_allowed", message), { allow });
}
