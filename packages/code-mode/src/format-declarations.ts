import { isRecord, type JsonSchema, type Tool } from "capstan";

/** Formats the tools as TypeScript declarations, in which a model finds their arguments and results. */
export function formatDeclarations(tools: readonly Tool[]): string {
  return `declare const tools: {\n${tools.map(formatToolDeclaration).join("\n")}\n};`;
}

function formatToolDeclaration({ name, description, schema, outputSchema }: Tool): string {
  const input = formatRoot(schema.json);
  const output = outputSchema ? formatRoot(outputSchema.json) : "any";
  const optional = hasRequired(schema.json) ? "" : "?";
  return `${formatComment(description, "  ")}  ${formatKey(name)}(input${optional}: ${input}): Promise<${output}>;`;
}

const hasRequired = (schema: unknown): boolean =>
  !isRecord(schema) ||
  (Array.isArray(schema.required) && schema.required.length > 0) ||
  schema.type !== "object";

const maxCommentLength = 500;

/** A description is data: it cannot end the comment, and takes one line. */
function formatComment(text: unknown, indent: string): string {
  if (typeof text !== "string" || text.trim() === "") return "";
  const line = text.replace(/\s+/g, " ").trim().replaceAll("*/", "*\\/");
  const shown = line.length > maxCommentLength ? `${line.slice(0, maxCommentLength).toWellFormed()}…` : line;
  return `${indent}/** ${shown} */\n`;
}

const formatKey = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

type TypeContext = {
  readonly root: unknown;
  readonly depth: number;
  /** The indentation of the fields of an object. */
  readonly indent: string;
};

const formatRoot = (root: unknown): string => formatSchemaType(root, { root, depth: 0, indent: "    " });

/** Deeper parts, and schemas that refer to themselves, are `unknown`; the runtime validates the arguments anyway. */
const maxDepth = 8;

function formatSchemaType(schema: unknown, context: TypeContext): string {
  if (schema === false) return "never";
  if (!isRecord(schema) || context.depth > maxDepth) return "unknown";
  const nested = { ...context, depth: context.depth + 1 };
  if (typeof schema.$ref === "string")
    return formatSchemaType(findReference(schema.$ref, context.root), nested);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return joinTypes(schema.enum.map((value) => JSON.stringify(value)));
  const variants = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(variants)) return joinTypes(variants.map((variant) => formatSchemaType(variant, nested)));
  if (Array.isArray(schema.allOf))
    return schema.allOf.map((part) => wrapUnion(formatSchemaType(part, nested))).join(" & ") || "unknown";
  if (Array.isArray(schema.type))
    return joinTypes(schema.type.map((type) => formatSchemaType({ ...schema, type }, context)));
  return formatNamedType(schema, nested);
}

function formatNamedType(schema: JsonSchema & Record<string, unknown>, nested: TypeContext): string {
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
    case "number":
      return schema.type;
    case "integer":
      return "number";
    case "array":
      if (Array.isArray(schema.prefixItems))
        return `[${schema.prefixItems.map((item) => formatSchemaType(item, nested)).join(", ")}]`;
      return formatArray(formatSchemaType(schema.items ?? true, nested));
    default:
      return schema.type === "object" || isRecord(schema.properties)
        ? formatObject(schema, nested)
        : "unknown";
  }
}

function formatObject(
  { properties, required, additionalProperties }: Record<string, unknown>,
  context: TypeContext,
): string {
  const { indent } = context;
  const nested = { ...context, indent: `${indent}  ` };
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const fields = Object.entries(isRecord(properties) ? properties : {}).map(([name, field]) => {
    const comment = formatComment(isRecord(field) ? field.description : undefined, indent);
    const optional = needed.includes(name) ? "" : "?";
    return `${comment}${indent}${formatKey(name)}${optional}: ${formatSchemaType(field, nested)};\n`;
  });
  if (isRecord(additionalProperties) || (additionalProperties !== false && fields.length === 0))
    fields.push(`${indent}[key: string]: ${formatSchemaType(additionalProperties ?? true, nested)};\n`);
  return fields.length === 0 ? "{}" : `{\n${fields.join("")}${indent.slice(2)}}`;
}

const joinTypes = (types: readonly string[]): string => [...new Set(types)].join(" | ") || "never";

const formatArray = (type: string): string => (/[ \n]/.test(type) ? `Array<${type}>` : `${type}[]`);

const wrapUnion = (type: string): string => (type.includes(" | ") ? `(${type})` : type);

/** Finds the schema of a reference within the same document, such as `#/$defs/city`. */
function findReference(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return undefined;
  let found: unknown = root;
  for (const segment of reference.slice(1).split("/").slice(1)) {
    const key = decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
    found = isRecord(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}
