import type { Part } from "capstan";
import type { SessionSummary } from "capstan/client";
import { useEffect, useState } from "react";
import { client } from "./client.ts";

/** A session at a place of another one: what comes up to and with the fact at `at` they have in common. */
export type Branch = { readonly sessionId: string; readonly at: number };

type BranchedSummary = SessionSummary & { readonly origin?: Branch; readonly forks?: readonly Branch[] };

/** A session, the one that it was forked from, and so on. */
export type Lineage = readonly BranchedSummary[];

const longestLineage = 30;

/** Reads where a session comes from; again when `version` is another one. */
export function useLineage(sessionId: string, version: unknown): Lineage {
  const [lineage, setLineage] = useState<Lineage>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version says that it has changed
  useEffect(() => {
    let isCurrent = true;
    readLineage(sessionId).then(
      (read) => isCurrent && setLineage(read),
      () => undefined, // the session itself says what is wrong
    );
    return () => {
      isCurrent = false;
    };
  }, [sessionId, version]);
  return lineage;
}

async function readLineage(sessionId: string): Promise<Lineage> {
  const lineage: BranchedSummary[] = [];
  for (let id: string | undefined = sessionId; id !== undefined && lineage.length < longestLineage; ) {
    const summary: BranchedSummary | undefined = await client.sessions
      .get(id)
      .catch((thrown) => (lineage.length === 0 ? Promise.reject(thrown) : undefined));
    if (!summary) break;
    lineage.push(summary);
    id = summary.origin?.sessionId;
  }
  return lineage;
}

/** How many of a lineage, from its beginning, have been made behind the fact at `at` or just there. */
function homeIndex(lineage: Lineage, at: number): number {
  const index = lineage.findIndex(({ origin }) => !origin || origin.at < at);
  return index === -1 ? Math.max(0, lineage.length - 1) : index;
}

/** The sessions that go on differently behind the fact at `at`, and which of them is shown. */
export function alternativesAt(
  lineage: Lineage,
  at: number,
): { readonly ids: readonly string[]; readonly index: number } {
  const homeAt = homeIndex(lineage, at);
  const home = lineage[homeAt];
  if (!home) return { ids: [], index: 0 };
  const forks = (home.forks ?? []).filter((fork) => fork.at === at).map(({ sessionId }) => sessionId);
  const below = lineage[homeAt - 1];
  const shown = below?.origin?.at === at ? below.id : home.id;
  const ids = [home.id, ...forks.filter((id) => id !== home.id)];
  return { ids, index: Math.max(0, ids.indexOf(shown)) };
}

export type BranchRequest = {
  readonly lineage: Lineage;
  readonly sessionId: string;
  /** The last fact that is kept; 0 keeps none. */
  readonly at: number;
  readonly input: string | readonly Part[];
  readonly agent?: string;
  readonly model?: string;
};

/** Says something at an earlier place, in a new session, and gives its id. What came after that place stays as it was. */
export async function startBranch({
  lineage,
  sessionId,
  at,
  input,
  ...rest
}: BranchRequest): Promise<string> {
  // Of the one that had it first, so that all that go on from there are found at one place.
  const home = lineage[homeIndex(lineage, at)];
  const made = await client.sessions.fork(home?.id ?? sessionId, at, {
    // Without a beginning it is called by its own first words.
    ...(home && { title: at === 0 ? "" : home.title }),
  });
  await client.runs.start({ ...rest, input, sessionId: made.id });
  return made.id;
}
