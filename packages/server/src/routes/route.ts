import { strictObject, type z } from "zod";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Who may ask: anyone, whoever can say who they are, or somebody who looks after the server. */
export type Access = "anyone" | "user" | "admin";

/** What a route answers with under a status. */
export type Answer = {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Another one than `application/json`; several are parted by commas. */
  readonly type?: string;
};

/** What a handler is given: everything is checked, and whatever it names is the caller's. */
export type Asked<Params, Query, Body> = {
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly request: Request;
  /** Of the header `Idempotency-Key`, made the caller's own. */
  readonly key: string | undefined;
  /** Of the header `Last-Event-ID`. */
  readonly lastEventId: number | undefined;
};

/**
 * One thing that can be asked of the server. The table of all routes is what requests are dispatched, checked and
 * documented by. A parameter, a query field or a body field named `sessionId`, `runId` or `otherRunId` must be the caller's: for
 * anybody else's the answer is 404, before the handler is asked.
 */
export type Route = {
  readonly method: Method;
  /** With `{name}` for each parameter. */
  readonly path: string;
  readonly summary: string;
  readonly access: Access;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  /** Left out: it takes none. */
  readonly body: z.ZodType | undefined;
  /** Of its body; 4 MiB when left out. */
  readonly mostBytes?: number;
  /** It begins work: refused while the server is about to leave. */
  readonly beginsWork: boolean;
  readonly answers: Readonly<Record<number, Answer>>;
  handle(asked: Asked<never, never, never>, deployment: Deployment): Promise<Response>;
};

type Definition<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> = {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly access?: Access;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly mostBytes?: number;
  readonly beginsWork?: boolean;
  readonly answers: Route["answers"];
  handle(
    asked: Asked<z.output<Params>, z.output<Query>, z.output<Body>>,
    deployment: Deployment,
  ): Promise<Response>;
};

const nothing: z.ZodType = strictObject({});

/** Keeps the types of what is asked between the schemas and the handler. */
export function defineRoute<
  Params extends z.ZodType = z.ZodType<Record<string, never>>,
  Query extends z.ZodType = z.ZodType<Record<string, never>>,
  Body extends z.ZodType = z.ZodType<undefined>,
>(definition: Definition<Params, Query, Body>): Route {
  const { access = "user", beginsWork = false, params = nothing, query = nothing, body } = definition;
  return { ...definition, access, beginsWork, params, query, body };
}
