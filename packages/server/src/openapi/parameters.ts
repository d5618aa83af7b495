import { z } from "zod";
import type { Route } from "../routes/route.ts";

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
