/** Collects the schemas in `root` that references can name: by `$id`, or by "#" and `$anchor`. */
export function collectNamedSchemas(root: unknown): ReadonlyMap<string, unknown> {
  const named = new Map<string, unknown>();
  const pending = [root];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== "object" || value === null) continue;
    if ("$id" in value && typeof value.$id === "string") named.set(value.$id, value);
    if ("$anchor" in value && typeof value.$anchor === "string") named.set(`#${value.$anchor}`, value);
    for (const member of Object.values(value)) if (member !== undefined) pending.push(member);
  }
  return named;
}

/**
 * Returns the target of a `$ref`, or undefined if it is not part of the schema; nothing is fetched. `resource` is the
 * nearest enclosing schema with an `$id`, or the root.
 */
export function resolveReference(
  reference: string,
  resource: unknown,
  named: ReadonlyMap<string, unknown>,
): unknown {
  const hash = reference.indexOf("#");
  const id = hash < 0 ? reference : reference.slice(0, hash);
  const fragment = hash < 0 ? "" : reference.slice(hash + 1);
  if (fragment !== "" && !fragment.startsWith("/")) return named.get(`#${fragment}`);
  let found = id === "" ? resource : named.get(id);
  for (const step of fragment.split("/").slice(1)) {
    const key = decodeStep(step)?.replaceAll("~1", "/").replaceAll("~0", "~");
    if (key === undefined || typeof found !== "object" || found === null || !Object.hasOwn(found, key))
      return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

function decodeStep(step: string): string | undefined {
  try {
    return decodeURIComponent(step);
  } catch {
    return undefined; // an invalid escape refers to nothing
  }
}
