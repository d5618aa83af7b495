/** The schemas inside `root` that references can call by name: `$id` as it is, `$anchor` with a "#". */
export function namedSchemas(root: unknown): ReadonlyMap<string, unknown> {
  const named = new Map<string, unknown>();
  const unread = [root];
  for (let value = unread.pop(); value !== undefined; value = unread.pop()) {
    if (typeof value !== "object" || value === null) continue;
    if ("$id" in value && typeof value.$id === "string") named.set(value.$id, value);
    if ("$anchor" in value && typeof value.$anchor === "string") named.set(`#${value.$anchor}`, value);
    for (const member of Object.values(value)) if (member !== undefined) unread.push(member);
  }
  return named;
}

/**
 * What a `$ref` refers to, or undefined when that is not part of the schema: nothing is ever fetched. `resource` is
 * the nearest schema around the reference that has an `$id`, or the root.
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
    const key = decoded(step)?.replaceAll("~1", "/").replaceAll("~0", "~");
    if (key === undefined || typeof found !== "object" || found === null || !Object.hasOwn(found, key))
      return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

function decoded(step: string): string | undefined {
  try {
    return decodeURIComponent(step);
  } catch {
    return undefined; // a lone % refers to nothing
  }
}
