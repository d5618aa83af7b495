import { AgentError } from "../errors.ts";
import { isRecord } from "../json.ts";

/** Texts in these forms hold no sentence. */
const closedFormats: readonly unknown[] = ["date", "date-time", "time", "duration"];

/** Throws unless every value that the schema allows is of a closed type, so that no free text fits through it. */
export function assertClosed(schema: unknown, owner: string): void {
  const open = openPlace(schema, "output");
  if (open === undefined) return;
  const message = `The quarantine "${owner}" would let text out at ${open}: use numbers, booleans, dates or an enum.`;
  throw new AgentError("invalid_definition", message);
}

/** Where a free text would fit, or nothing. */
function openPlace(schema: unknown, path: string): string | undefined {
  if (!isRecord(schema)) return path;
  if (Array.isArray(schema.enum) || "const" in schema) return undefined;
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return firstOpen(choices.map((choice, index) => [choice, `${path}[${index}]`]));
  switch (schema.type) {
    case "number":
    case "integer":
    case "boolean":
    case "null":
      return undefined;
    case "string":
      return closedFormats.includes(schema.format) ? undefined : path;
    case "array":
      return openPlace(schema.items, `${path}[]`);
    case "object":
      return openField(schema, path);
    default:
      return path;
  }
}

function openField(schema: Record<string, unknown>, path: string): string | undefined {
  const { properties, additionalProperties, patternProperties } = schema;
  // Names of fields are words too: all of them must be known.
  if (additionalProperties !== false || patternProperties !== undefined || !isRecord(properties))
    return `${path} (set additionalProperties to false)`;
  return firstOpen(Object.entries(properties).map(([name, field]) => [field, `${path}.${name}`]));
}

function firstOpen(places: readonly (readonly [unknown, string])[]): string | undefined {
  for (const [schema, path] of places) {
    const open = openPlace(schema, path);
    if (open !== undefined) return open;
  }
  return undefined;
}
