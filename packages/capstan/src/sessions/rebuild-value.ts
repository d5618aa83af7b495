import { isRecord } from "../base/json.ts";
import type { FieldTable, RebuildContext, Shape } from "./shapes.ts";

/** Returns the problem with a parsed JSON value, or undefined if it has the shape. */
export function findProblem(shape: Shape, value: unknown, path: string): string | undefined {
  const accept = (isValid: boolean, expected: string) =>
    isValid ? undefined : `${path} must be ${expected}`;
  switch (shape.type) {
    case "string":
      return accept(typeof value === "string" && shape.accepts(value), shape.hint);
    case "number":
      return accept(typeof value === "number" && shape.accepts(value), shape.hint);
    case "boolean":
      return accept(typeof value === "boolean", "true or false");
    case "json":
      return undefined;
    case "choice": {
      const isChoice = shape.choices.some((allowed) => allowed === value);
      return accept(isChoice, `one of ${shape.choices.join(", ")}`);
    }
    case "array":
      return Array.isArray(value)
        ? findFirst(value.entries(), ([index, item]) => findProblem(shape.item, item, `${path}[${index}]`))
        : `${path} must be an array`;
    case "record":
      return isRecord(value)
        ? findFirst(Object.entries(value), ([key, item]) =>
            findProblem(shape.item, item, `${path}[${JSON.stringify(key)}]`),
          )
        : `${path} must be an object`;
    case "object":
      return isRecord(value) ? findFieldProblem(shape.fields, value, path) : `${path} must be an object`;
    case "variants": {
      const variant = findVariant(shape.variants, value);
      if (variant) return findProblem(variant, value, path);
      const known = Object.keys(shape.variants).join(", ");
      return `${path}.type must be one of ${known}, not ${formatType(value)}`;
    }
    case "either":
      return findMatch(shape.shapes, value)
        ? undefined
        : findProblem(shape.shapes.at(-1) ?? shape, value, path);
    case "dropped":
      return findProblem(shape.shape, value, path);
  }
}

function findFieldProblem(
  fields: FieldTable,
  value: Record<string, unknown>,
  path: string,
): string | undefined {
  return findFirst(Object.entries(fields), ([name, field]) => {
    if (Object.hasOwn(value, name)) return findProblem(field.shape, value[name], `${path}.${name}`);
    return field.action === "drop" || field.isOptional ? undefined : `${path}.${name} is missing`;
  });
}

function findFirst<Item>(
  items: Iterable<Item>,
  find: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found) return found;
  }
  return undefined;
}

function findVariant(variants: { readonly [type: string]: Shape }, value: unknown): Shape | undefined {
  const type = isRecord(value) ? value.type : undefined;
  return typeof type === "string" && Object.hasOwn(variants, type) ? variants[type] : undefined;
}

function findMatch(shapes: readonly Shape[], value: unknown): Shape | undefined {
  return shapes.find((shape) => findProblem(shape, value, "") === undefined);
}

function formatType(value: unknown): string {
  return JSON.stringify(isRecord(value) ? value.type : undefined)?.slice(0, 80) ?? "nothing";
}

/** Rebuilds a value that has the shape. Returns undefined if an import drops it. */
export function rebuildValue(shape: Shape, value: unknown, context: RebuildContext): unknown {
  switch (shape.type) {
    case "string":
    case "number":
    case "boolean":
    case "json":
    case "choice":
      return value;
    case "array":
      return (value as readonly unknown[])
        .map((item) => rebuildValue(shape.item, item, context))
        .filter((item) => item !== undefined);
    case "record":
      // `Object.fromEntries` keeps a `__proto__` key as an own property.
      return Object.fromEntries(
        Object.entries(value as object).map(([key, item]) => [key, rebuildValue(shape.item, item, context)]),
      );
    case "object":
      return {
        ...(shape.isOpen && (value as object)),
        ...rebuildFields(shape.fields, value as Record<string, unknown>, context),
      };
    case "variants": {
      const variant = findVariant(shape.variants, value);
      const rebuilt = variant && rebuildValue(variant, value, context);
      return isRecord(rebuilt) ? { type: (value as { type: unknown }).type, ...rebuilt } : undefined;
    }
    case "either": {
      const match = findMatch(shape.shapes, value);
      return match && rebuildValue(match, value, context);
    }
    case "dropped":
      return undefined;
  }
}

function rebuildFields(fields: FieldTable, value: Record<string, unknown>, context: RebuildContext): object {
  const rebuilt: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const own = Object.hasOwn(value, name) ? value[name] : undefined;
    if (field.action === "replace") rebuilt[name] = field.build(own, context);
    else if (field.action === "keep" && own !== undefined)
      rebuilt[name] = rebuildValue(field.shape, own, context);
    if (rebuilt[name] === undefined) delete rebuilt[name];
  }
  return rebuilt;
}
