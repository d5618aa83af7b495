import type { Fact } from "../../kernel/event.ts";
import { assertKnownVersion } from "../store-rules.ts";

export type FactRow = { readonly seq: number; readonly version: number; readonly fact: string };
/** A fact with its number in the table. */
export type NumberedFact = { readonly number: number; readonly session: number; readonly fact: Fact };

/** Parses the fact of a row. Throws `newer_version`. */
export function parseFact({ seq, version, fact }: FactRow): Fact {
  assertKnownVersion(version);
  return { ...JSON.parse(fact), seq };
}
