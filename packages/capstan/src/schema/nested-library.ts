import { AgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";

const maxDepth = 64;
const wrapperHints: { readonly [vendor: string]: string } = {
  zod: "z.object({ … })",
  valibot: "v.object({ … })",
  arktype: "type({ … })",
};

/**
 * Rejects library schemas inside a plain object, such as `{ city: z.string() }`: read as JSON Schema it would check
 * almost nothing and expose the library's internals to the model.
 */
export function assertNoNestedLibrary(input: object, owner: string): void {
  const seen = new Set<object>();
  const visit = (value: unknown, path: readonly string[]): void => {
    const vendor = path.length > 0 ? findVendor(value) : undefined;
    if (vendor !== undefined) {
      const wrapping = Object.hasOwn(wrapperHints, vendor) ? wrapperHints[vendor] : `an object of ${vendor}`;
      throw new AgentError(
        "invalid_definition",
        `"${path.join(".")}" in the schema of ${owner} is a ${vendor} schema inside a plain object: wrap the object in ${wrapping}.`,
      );
    }
    // Deeper schemas are rejected elsewhere; shared or circular ones were visited already.
    if (typeof value !== "object" || value === null || path.length > maxDepth || seen.has(value)) return;
    seen.add(value);
    for (const [key, member] of Object.entries(value)) visit(member, [...path, key]);
  };
  visit(input, []);
}

/** Identifies the library by its functions, because plain data can have any keys. */
function findVendor(value: unknown): string | undefined {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  const standard: unknown = Reflect.get(value, "~standard");
  if (isRecord(standard) && typeof standard.validate === "function") return String(standard.vendor);
  const isOlderZod = isRecord(value) && "_def" in value && typeof value.safeParse === "function";
  return isOlderZod ? "zod" : undefined;
}
