import { z } from "zod";
import type { Route, RouteResponse } from "../routes/route.ts";
import { problem } from "../routes/schemas.ts";

/** An OpenAPI 3.1 document. */
export type OpenApi = {
  readonly openapi: "3.1.0";
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

type Operation = Readonly<Record<string, unknown>>;

/** Builds the document from the same schemas that requests are validated with. */
export function buildOpenApi(routes: readonly Route[]): OpenApi {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const methods = paths[route.path] ?? {};
    paths[route.path] = methods;
    methods[route.method.toLowerCase()] = buildOperation(route);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Capstan", version: "1" },
    paths,
    components: {
      schemas: { Problem: toJsonSchema(problem, "output") },
      responses: {
        Problem: {
          description: "The error: a stable `code`, and a `message` that says what to do.",
          content: { "application/json": { schema: { $ref: "#/components/schemas/Problem" } } },
        },
      },
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
    },
  };
}

function buildOperation(route: Route): Operation {
  const { summary, access, body, responses: answers } = route;
  const refused = { $ref: "#/components/responses/Problem" };
  return {
    summary,
    operationId: buildOperationId(route),
    parameters: listParameters(route),
    ...(body && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: { "application/json": { schema: toJsonSchema(body, "input") } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [status, buildResponse(answer)]),
      ),
      "4XX": refused,
      "5XX": refused,
    },
    // While no key exists, local callers need none.
    security: access === "anyone" ? [] : [{ key: [] }, {}],
  };
}

/** The schema describes the JSON variant of a response with several comma-separated types. */
function buildResponse({ description, schema, type }: RouteResponse): Operation {
  const types =
    type?.split(", ").map((each) => [each, { schema: each === jsonType ? {} : textSchema }]) ?? [];
  if (schema) types.push([jsonType, { schema: toJsonSchema(schema, "output") }]);
  return types.length === 0 ? { description } : { description, content: Object.fromEntries(types) };
}

const jsonType = "application/json";
const textSchema = { type: "string" };

/** Builds a name for generated clients from method and path. */
function buildOperationId({ method, path }: Route): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== "" && word !== "api");
  return [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join(
    "",
  );
}

export function toJsonSchema(schema: z.ZodType, io: "input" | "output"): Record<string, unknown> {
  const { $schema: _, "~standard": __, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return json;
}

export type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: unknown;
};

type Fields = Readonly<Record<string, z.ZodType>>;

/** Returns the fields of a parameter schema, none if it is not an object. */
export function getFields(schema: z.ZodType): Fields {
  if (schema instanceof z.ZodPipe) return getFields(schema.in as z.ZodType);
  return schema instanceof z.ZodObject ? (schema.shape as Fields) : {};
}

/** Lists path, query and header parameters. */
export function listParameters(route: Route): readonly Parameter[] {
  const { method, params, query, responses: answers } = route;
  const isStream = Object.values(answers).some(({ type }) => type === "text/event-stream");
  return [
    ...Object.entries(getFields(params)).map(([name, schema]) => buildParameter(name, "path", schema)),
    ...Object.entries(getFields(query)).map(([name, schema]) => buildParameter(name, "query", schema)),
    ...(method === "POST"
      ? [buildHeader("Idempotency-Key", "Repeating a request with the same key has no further effect.")]
      : []),
    ...(isStream
      ? [buildHeader("Last-Event-ID", "The `id` of the last event received; the stream continues after it.")]
      : []),
  ];
}

function buildParameter(name: string, where: "path" | "query", schema: z.ZodType): Parameter {
  const {
    $schema: _,
    "~standard": __,
    ...json
  } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const required = where === "path" || !schema.safeParse(undefined).success;
  return { name, in: where, required, schema: json };
}

function buildHeader(name: string, description: string): Parameter {
  return { name, in: "header", required: false, description, schema: { type: "string" } };
}
