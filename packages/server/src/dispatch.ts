import { createHash } from "node:crypto";
import { AgentError } from "capstan";
import { getScope } from "capstan/sessions";
import { Hono } from "hono";
import type { z } from "zod";
import type { Authenticate } from "./access/authenticate.ts";
import type { Caller } from "./access/caller.ts";
import type { Deployment } from "./deployment.ts";
import { internalProblem, isForClients, problemResponse } from "./http/problem.ts";
import { type BodyLimits, readBody } from "./http/read-body.ts";
import type { StaticFiles } from "./http/static-files.ts";
import type { Asked, Route } from "./routes/route.ts";

type Values = Readonly<Record<string, unknown>>;

/** Answers one request to a route: says who asks, checks what they ask and that it is theirs, and lets it be done. */
export async function dispatch(
  route: Route,
  { request, params }: { readonly request: Request; readonly params: Values },
  { deployment, authenticate }: { readonly deployment: Deployment; readonly authenticate: Authenticate },
): Promise<Response> {
  const caller = route.access === "anyone" ? nobody : await authenticate(request);
  if (route.access === "admin" && !caller.isAdmin)
    throw new AgentError("forbidden", "Only the key of an admin may do this.");
  if (route.beginsWork && deployment.leaving.aborted)
    throw new AgentError("draining", "The server is about to leave: ask again in a moment.");
  if (route.beginsWork) deployment.assertRoom();
  const asked: Asked<unknown, unknown, unknown> = {
    caller,
    request,
    key: keyOf(request, caller),
    lastEventId: lastEventIdOf(request),
    params: checked("path", route.params, params),
    query: checked("query", route.query, queryOf(request)),
    body: route.body && checked("body", route.body, await readBody(request, bodyLimits(route))),
  };
  await assertOwned(asked, deployment);
  return route.handle(asked as Asked<never, never, never>, deployment);
}

function bodyLimits({ mostBytes }: Route): BodyLimits {
  return mostBytes === undefined ? {} : { mostBytes };
}

const nobody: Caller = {
  user: "",
  scope: "",
  isAdmin: false,
  limits: { streams: 0, runs: 0, tokensPerDay: 0, costPerDay: 0 },
};

/** Whatever a request names must be the caller's. To anybody else it is not there. */
async function assertOwned(
  { caller, params, query, body }: Asked<unknown, unknown, unknown>,
  { store }: Deployment,
): Promise<void> {
  for (const values of [params, query, body] as (Values | undefined)[]) {
    const { sessionId, runId, otherRunId } = values ?? {};
    if (typeof sessionId === "string") {
      const isTheirs =
        getScope(sessionId) === caller.scope && (await store.getSession(sessionId)) !== undefined;
      if (!isTheirs) throw new AgentError("not_found", `There is no session "${sessionId}".`);
    }
    for (const run of [runId, otherRunId]) {
      if (typeof run !== "string") continue;
      const found = await store.findSession(run);
      if (found === undefined || getScope(found) !== caller.scope)
        throw new AgentError("unknown_run", `There is no run "${run}".`);
    }
  }
}

function checked(where: string, schema: z.ZodType, value: unknown): unknown {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const { path, message } = closest(error.issues.map((issue) => plain(issue, value)));
  const at = path.length ? ` at ${path.join(".")}` : "";
  throw new AgentError("invalid_input", `The ${where} cannot be used${at}: ${message}.`);
}

type Issue = z.core.$ZodIssue;

/** A number of the query is made of a text: of one that is none it would be said that it is "NaN". */
function plain(issue: Issue, value: unknown): Issue {
  if (issue.code !== "invalid_type" || !issue.message.endsWith("received NaN")) return issue;
  const [field] = issue.path;
  const isThere = field !== undefined && Object.hasOwn(Object(value), field);
  return { ...issue, message: isThere ? "it must be a number" : "it is missing" };
}

/** Of several forms it says what is wrong in the one that was meant: that which is not of another type as a whole. */
function closest([issue]: readonly Issue[]): Pick<Issue, "path" | "message"> {
  if (issue?.code !== "invalid_union") return issue ?? { path: [], message: "it is not valid" };
  const isMeant = (issues: readonly Issue[]) =>
    !issues.some(({ path, code }) => path.length === 0 && code === "invalid_type");
  const form = issue.errors.find(isMeant);
  if (!form?.length) return issue;
  const { path, message } = closest(form);
  return { path: [...issue.path, ...path], message };
}

function queryOf(request: Request): Values {
  const entries = [...new URL(request.url).searchParams];
  const seen = new Set<string>();
  for (const [name] of entries) {
    if (seen.has(name)) throw new AgentError("invalid_input", `The query has "${name}" twice.`);
    seen.add(name);
  }
  return Object.fromEntries(entries);
}

const longestKey = 256;

/** Apart for each user and each thing that is asked for: nobody meets the key of somebody else. */
function keyOf(request: Request, { scope }: Caller): string | undefined {
  const given = request.headers.get("idempotency-key");
  if (given === null) return undefined;
  if (given.length === 0 || given.length > longestKey)
    throw new AgentError("invalid_input", `An Idempotency-Key has 1 to ${longestKey} characters.`);
  const { pathname } = new URL(request.url);
  return createHash("sha256")
    .update(JSON.stringify([scope, request.method, pathname, given]))
    .digest("base64url");
}

function lastEventIdOf(request: Request): number | undefined {
  const given = request.headers.get("last-event-id");
  if (given === null || given === "") return undefined;
  if (!/^\d{1,15}$/.test(given))
    throw new AgentError("invalid_input", "Last-Event-ID is the `id` of an event that was read from here.");
  return Number(given);
}

export type ApplicationOptions = {
  readonly routes: readonly Route[];
  answer(route: Route, asked: { request: Request; params: Record<string, string> }): Promise<Response>;
  readonly files: StaticFiles | undefined;
  report(thrown: unknown): string;
};

type Application = (request: Request) => Promise<Response>;

/** Finds the route of a request, or a file, and says so when there is none. */
export function application({ routes, answer, files, report }: ApplicationOptions): Application {
  const app = new Hono();
  const methods = new Map<string, string[]>();
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1");
    methods.set(path, [...(methods.get(path) ?? []), route.method]);
    app.on(route.method, path, ({ req }) => answer(route, { request: req.raw, params: req.param() }));
  }
  for (const [path, known] of methods) app.all(path, ({ req }) => notAllowed(req.method, known));
  app.notFound(({ req }) => {
    const file = req.method === "GET" ? files?.(req.raw) : undefined;
    if (file) return file;
    throw new AgentError("no_route", `There is nothing at ${req.path.slice(0, 200)}: look at /openapi.json.`);
  });
  app.onError((thrown) => (isForClients(thrown) ? problemResponse(thrown) : internalProblem(report(thrown))));
  return async (request) => app.fetch(request);
}

function notAllowed(method: string, known: readonly string[]): Response {
  const allow = known.flatMap((name) => (name === "GET" ? ["GET", "HEAD"] : [name])).join(", ");
  const message = `${method.slice(0, 20)} does nothing here: use ${allow}.`;
  return problemResponse(new AgentError("method_not_allowed", message), { allow });
}
