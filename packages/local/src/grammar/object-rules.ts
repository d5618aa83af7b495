import { isRecord, type JsonSchema } from "capstan";
import { createSchemaError, type Location, repeat, toLiteral } from "./rules.ts";
import type { SchemaContext } from "./schema-rules.ts";

const separator = '"," " "?';

/** Returns an expression for the objects of a schema: its properties in their order, the optional ones if chosen. */
export function buildObject(schema: JsonSchema, context: SchemaContext): string {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required.map(String) : []);
  const names = [...new Set([...Object.keys(properties), ...required])];
  if (names.length === 0) return buildMap(schema, context);
  assertNoPatterns(schema, names, context);
  const members = names.flatMap((name): Member[] => {
    const inner = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
    const isRequired = required.has(name);
    if (inner === false && !isRequired) return [];
    const value = context.build(inner, `/properties/${name}`);
    return [{ body: `${toLiteral(`${JSON.stringify(name)}:`)} " "? ${value}`, isRequired }];
  });
  const min = Number(schema.minProperties ?? 0);
  const max = Number(schema.maxProperties ?? Infinity);
  const body = buildMembers(members, { min, max }, context);
  if (body === "")
    throw createSchemaError(context, "minProperties", "cannot be met by the listed properties");
  return `"{" ${body} "}"`;
}

type Member = { readonly body: string; readonly isRequired: boolean };

/** Returns "" if the limits cannot be met. */
function buildMembers(
  members: readonly Member[],
  { min, max }: { readonly min: number; readonly max: number },
  { rules }: SchemaContext,
): string {
  const known = new Map<string, string>();
  // Without limits only the first member differs, so counting stops at 1 and the rules stay few.
  const isLimited = min > 0 || max !== Infinity;
  const build = (index: number, count: number): string => {
    const key = `${index} ${isLimited ? count : Math.min(count, 1)}`;
    const body = known.get(key) ?? buildRest(index, count);
    known.set(key, body);
    return body;
  };
  const buildRest = (index: number, count: number): string => {
    const member = members[index];
    if (!member) return count >= min && count <= max ? '""' : "";
    const rest = count < max ? build(index + 1, count + 1) : "";
    const take = rest && `${count > 0 ? `${separator} ` : ""}${member.body} ${rest}`;
    const leave = member.isRequired ? "" : build(index + 1, count);
    const choices = [take, leave].filter((choice) => choice !== "");
    return choices.length > 0 ? rules.add(choices.join(" | ")) : "";
  };
  return build(0, 0);
}

/** An object without listed properties: names are free, values match `additionalProperties`. */
function buildMap(schema: JsonSchema, context: SchemaContext): string {
  const { rules } = context;
  const { additionalProperties: values, patternProperties } = schema;
  const min = Number(schema.minProperties ?? 0);
  const max = Number(schema.maxProperties ?? Infinity);
  if (min > max) throw createSchemaError(context, "minProperties", "is larger than maxProperties");
  // Repeated names would count once.
  if (min > 1) throw createSchemaError(context, "minProperties", "needs several names that differ");
  if (isRecord(patternProperties) || values === false || max === 0) {
    if (min === 0) return '"{}"';
    throw createSchemaError(context, "minProperties", "needs a name that matches a pattern");
  }
  const value = context.build(values, "/additionalProperties");
  const name = rules.add('[^"\\\\_\\x00-\\x1F\\x7F] [^"\\\\\\x00-\\x1F\\x7F]{0,60}');
  const member = rules.add(`"\\"" ${name} "\\":" " "? ${value}`);
  const following = rules.add(`${separator} ${member}`);
  const list = `${member} ${repeat(rules, following, { min: 0, max: Math.min(max, 257) - 1 })}`;
  return min === 0 ? `"{" ( ${list} )? "}"` : `"{" ${list} "}"`;
}

/** Patterns are not used to make up names; a listed name that matches one would have to match two schemas. */
function assertNoPatterns(
  { patternProperties }: JsonSchema,
  names: readonly string[],
  location: Location,
): void {
  if (!isRecord(patternProperties)) return;
  for (const pattern of Object.keys(patternProperties)) {
    const expression = new RegExp(pattern, "u");
    const name = names.find((one) => expression.test(one));
    if (name !== undefined)
      throw createSchemaError(location, "patternProperties", `also matches the property "${name}"`);
  }
}
