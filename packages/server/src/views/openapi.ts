import { z } from "zod";
import type { Answer, Route } from "../routes/route.ts";
import { problem } from "../routes/schemas.ts";

/** A document of OpenAPI 3.1. */
export type OpenApi = {
  readonly openapi: "3.1.0";
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

type Operation = Readonly<Record<string, unknown>>;

/** Describes routes by what they are dispatched and checked by. */
export function openApi(routes: readonly Route[]): OpenApi {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const methods = paths[route.path] ?? {};
    paths[route.path] = methods;
    methods[route.method.toLowerCase()] = operationOf(route);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Capstan", version: "1" },
    paths,
    components: {
      schemas: { Problem: jsonSchema(problem, "output") },
      responses: {
        Problem: {
          description: "What went wrong: `code` says which, `message` what to do.",
          content: { "application/json": { schema: { $ref: "#/components/schemas/Problem" } } },
        },
      },
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
    },
  };
}

function operationOf(route: Route): Operation {
  const { summary, access, body, answers } = route;
  const refused = { $ref: "#/components/responses/Problem" };
  return {
    summary,
    operationId: operationIdOf(route),
    parameters: parametersOf(route),
    ...(body && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: { "application/json": { schema: jsonSchema(body, "input") } },
      },
    }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answerOf(answer)])),
      "4XX": refused,
      "5XX": refused,
    },
    // Without a key that was ever set, whoever is on this machine needs none.
    security: access === "anyone" ? [] : [{ key: [] }, {}],
  };
}

/** A schema beside another type than JSON is of those who ask for JSON. Several types are parted by commas. */
function answerOf({ description, schema, type }: Answer): Operation {
  const types = type?.split(", ").map((each) => [each, { schema: each === jsonType ? {} : text }]) ?? [];
  if (schema) types.push([jsonType, { schema: jsonSchema(schema, "output") }]);
  return types.length === 0 ? { description } : { description, content: Object.fromEntries(types) };
}

const jsonType = "application/json";
const text = { type: "string" };

/** A name for generated clients: what is done to what. */
function operationIdOf({ method, path }: Route): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== "" && word !== "api");
  return [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join(
    "",
  );
}

/** A schema as others read it: of what may be sent, or of what is answered. */
export function jsonSchema(schema: z.ZodType, io: "input" | "output"): Record<string, unknown> {
  const { $schema: _, "~standard": __, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return json;
}

/** A parameter of an operation, as OpenAPI has it. */
export type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: unknown;
};

type Fields = Readonly<Record<string, z.ZodType>>;

/** The fields of a schema of parameters; none for one that is no object. */
export function fieldsOf(schema: z.ZodType): Fields {
  if (schema instanceof z.ZodPipe) return fieldsOf(schema.in as z.ZodType);
  return schema instanceof z.ZodObject ? (schema.shape as Fields) : {};
}

/** Those of the path, of the query, and the headers that mean something to the route. */
export function parametersOf(route: Route): readonly Parameter[] {
  const { method, params, query, answers } = route;
  const isStream = Object.values(answers).some(({ type }) => type === "text/event-stream");
  return [
    ...Object.entries(fieldsOf(params)).map(([name, schema]) => parameterOf(name, "path", schema)),
    ...Object.entries(fieldsOf(query)).map(([name, schema]) => parameterOf(name, "query", schema)),
    ...(method === "POST"
      ? [header("Idempotency-Key", "The same request with the same key counts once.")]
      : []),
    ...(isStream ? [header("Last-Event-ID", "Where a reader goes on: the `id` of the last event.")] : []),
  ];
}

function parameterOf(name: string, where: "path" | "query", schema: z.ZodType): Parameter {
  const {
    $schema: _,
    "~standard": __,
    ...json
  } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const required = where === "path" || !schema.safeParse(undefined).success;
  return { name, in: where, required, schema: json };
}

function header(name: string, description: string): Parameter {
  return { name, in: "header", required: false, description, schema: { type: "string" } };
}
