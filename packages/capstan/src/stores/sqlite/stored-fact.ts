import { AgentError } from "../../errors.ts";
import type { Fact } from "../../event.ts";
import { factVersion } from "./migrations.ts";

export type FactRow = { readonly seq: number; readonly version: number; readonly fact: string };

/** Parses the fact of a row. */
export function parseFact(file: string, { seq, version, fact }: FactRow): Fact {
  if (version <= factVersion) return { ...JSON.parse(fact), seq };
  throw new AgentError(
    "store_failed",
    `The store "${file}" contains a fact of version ${version}, but this program supports versions up to ${factVersion}. Update the program.`,
    { retryable: false },
  );
}
