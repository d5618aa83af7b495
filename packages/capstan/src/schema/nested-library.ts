import { AgentError } from "../errors.ts";
import { isRecord } from "../json.ts";

const mostDepth = 64;
const wrappings: { readonly [vendor: string]: string } = {
  zod: "z.object({ … })",
  valibot: "v.object({ … })",
  arktype: "type({ … })",
};

/**
 * Refuses a library's schemas inside a plain object, such as `{ city: z.string() }`: read as JSON Schema it would check
 * hardly anything, and show the model the insides of the library.
 */
export function refuseLibraryWithin(input: object, owner: string): void {
  const seen = new Set<object>();
  const look = (value: unknown, path: readonly string[]): void => {
    const vendor = path.length > 0 ? vendorOf(value) : undefined;
    if (vendor !== undefined) {
      const wrapping = Object.hasOwn(wrappings, vendor) ? wrappings[vendor] : `an object of ${vendor}`;
      throw new AgentError(
        "invalid_definition",
        `"${path.join(".")}" in the schema of ${owner} is a ${vendor} schema inside a plain object: wrap the object in ${wrapping}.`,
      );
    }
    // What is deeper is refused for its depth; what is shared or circular has been looked at.
    if (typeof value !== "object" || value === null || path.length > mostDepth || seen.has(value)) return;
    seen.add(value);
    for (const [key, member] of Object.entries(value)) look(member, [...path, key]);
  };
  look(input, []);
}

/** Whose schema it is. Functions tell it from data, which may have any keys. */
function vendorOf(value: unknown): string | undefined {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  const standard: unknown = Reflect.get(value, "~standard");
  if (isRecord(standard) && typeof standard.validate === "function") return String(standard.vendor);
  const isOlderZod = isRecord(value) && "_def" in value && typeof value.safeParse === "function";
  return isOlderZod ? "zod" : undefined;
}
