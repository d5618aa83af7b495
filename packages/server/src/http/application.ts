import { AgentError } from "capstan";
import { Hono } from "hono";
import { internalProblem, isForClients, problemResponse } from "./problem.ts";
import type { Route } from "../routes/route.ts";
import type { StaticFiles } from "./static-files.ts";

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
