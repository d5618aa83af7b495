import type { Fact } from "../../event.ts";
import { assertKnownVersion } from "../store-rules.ts";

export type FactRow = { readonly seq: number; readonly version: number; readonly fact: string };

/** Parses the fact of a row. Throws `newer_version`. */
export function parseFact({ seq, version, fact }: FactRow): Fact {
  assertKnownVersion(version);
  return { ...JSON.parse(fact), seq };
}
