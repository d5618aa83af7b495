import { AgentError } from "../errors.ts";
import { isRecord } from "../json.ts";

/** String formats that cannot carry free text. */
const closedFormats: readonly unknown[] = ["date", "date-time", "time", "duration"];

/** Throws unless the schema allows closed types only, so that no free text can pass. */
export function assertClosed(schema: unknown, owner: string): void {
  const open = findOpenPath(schema, "output");
  if (open === undefined) return;
  const message = `The output schema of the quarantine "${owner}" allows free text at ${open}. Use numbers, booleans, dates or an enum.`;
  throw new AgentError("invalid_definition", message);
}

/** Returns the path of the first value that allows free text. */
function findOpenPath(schema: unknown, path: string): string | undefined {
  if (!isRecord(schema)) return path;
  if (Array.isArray(schema.enum) || "const" in schema) return undefined;
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices))
    return findFirstOpen(choices.map((choice, index) => [choice, `${path}[${index}]`]));
  switch (schema.type) {
    case "number":
    case "integer":
    case "boolean":
    case "null":
      return undefined;
    case "string":
      return closedFormats.includes(schema.format) ? undefined : path;
    case "array":
      return findOpenPath(schema.items, `${path}[]`);
    case "object":
      return findOpenField(schema, path);
    default:
      return path;
  }
}

function findOpenField(schema: Record<string, unknown>, path: string): string | undefined {
  const { properties, additionalProperties, patternProperties } = schema;
  // Property names can carry text too, so all of them must be declared.
  if (additionalProperties !== false || patternProperties !== undefined || !isRecord(properties))
    return `${path} (set additionalProperties to false)`;
  return findFirstOpen(Object.entries(properties).map(([name, field]) => [field, `${path}.${name}`]));
}

function findFirstOpen(places: readonly (readonly [unknown, string])[]): string | undefined {
  for (const [schema, path] of places) {
    const open = findOpenPath(schema, path);
    if (open !== undefined) return open;
  }
  return undefined;
}
