import type { Json } from "../../json.ts";
import { ownData, tagged } from "../wire.ts";

const wire = "ai-sdk";

/** What the provider gave, as JSON, marked as its own: `providerMetadata`, or a whole part of a message. */
export function ownedBy(provider: string, data: unknown): Json {
  return tagged(wire, { provider, data: JSON.parse(JSON.stringify(data)) as Json });
}

/** What this provider gave; nothing when it is another's. */
export function ownOf(provider: string, opaque: Json | undefined): Json | undefined {
  const own = ownData(wire, opaque) as { readonly provider?: Json; readonly data?: Json } | undefined;
  return own?.provider === provider ? own.data : undefined;
}
