/** A field that two versions of something do not have in common. */
export type ChangedField = { readonly field: string; readonly was: string; readonly is: string };

/** The fields of two objects that differ; texts as they are, the rest as JSON. */
export function changedFields(before: unknown, after: unknown): readonly ChangedField[] {
  const [was, is] = [recordOf(before), recordOf(after)];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((field) => {
    const pair = { was: shown(was[field]), is: shown(is[field]) };
    return pair.was === pair.is ? [] : [{ field, ...pair }];
  });
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function shown(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join(", ");
  return JSON.stringify(value, undefined, 2);
}
