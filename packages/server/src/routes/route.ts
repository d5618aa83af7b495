import { strictObject, type z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Who may call a route: anyone, authenticated users, or admins. */
export type Access = "anyone" | "user" | "admin";

export type RouteResponse = {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Comma-separated media types other than `application/json`. */
  readonly type?: string;
};

/** Input of a handler: validated, and all ids in it belong to the caller. */
export type RouteRequest<Params, Query, Body> = {
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly request: Request;
  /** Called by a handler that reads the body of `request` itself, when it has: unread bodies are limited per user. */
  endReading(): void;
  /** Derived from the `Idempotency-Key` header; unique per user and route. */
  readonly key: string | undefined;
  /** From the `Last-Event-ID` header. */
  readonly lastEventId: number | undefined;
  /** Whether any process may execute the run when it has capacity: from `Prefer: respond-async`. */
  readonly canWait: boolean;
};

/**
 * A route. Routing, validation and the OpenAPI document all derive from the table of routes. Path, query and body
 * fields named `sessionId`, `runId`, `otherRunId` or `scheduleId` must belong to the caller; otherwise the response is 404 and the
 * handler is not called.
 */
export type Route = {
  readonly method: Method;
  /** Contains `{name}` for each parameter. */
  readonly path: string;
  readonly summary: string;
  readonly access: Access;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  /** Undefined if the route takes no body. */
  readonly body: z.ZodType | undefined;
  /** Limit of the body; 4 MiB by default. */
  readonly maxBytes?: number;
  /** Refused with `draining` during shutdown, and with `overloaded` when the server has no capacity. */
  readonly startsWork: boolean;
  /** The work may wait until any process has capacity for it, without `Prefer: respond-async`. */
  readonly canWait?: true;
  readonly responses: Readonly<Record<number, RouteResponse>>;
  handle(asked: RouteRequest<never, never, never>, deployment: Deployment): Promise<Response>;
};

type RouteDefinition<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> = {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly access?: Access;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly maxBytes?: number;
  readonly startsWork?: boolean;
  readonly canWait?: true;
  readonly responses: Route["responses"];
  handle(
    asked: RouteRequest<z.output<Params>, z.output<Query>, z.output<Body>>,
    deployment: Deployment,
  ): Promise<Response>;
};

const emptyObject: z.ZodType = strictObject({});

/** Defines a route; infers the handler's input types from the schemas. */
export function defineRoute<
  Params extends z.ZodType = z.ZodType<Record<string, never>>,
  Query extends z.ZodType = z.ZodType<Record<string, never>>,
  Body extends z.ZodType = z.ZodType<undefined>,
>(definition: RouteDefinition<Params, Query, Body>): Route {
  const { access = "user", startsWork = false, params = emptyObject, query = emptyObject, body } = definition;
  return { ...definition, access, startsWork, params, query, body };
}
