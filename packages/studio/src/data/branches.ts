import type { Fact, Part } from "capstan";
import type { SessionSummary } from "capstan/client";
import { useEffect, useState } from "react";
import { client } from "./client.ts";

/** A related session; the facts up to position `at` are shared. */
export type Branch = { readonly sessionId: string; readonly at: number };

type BranchedSummary = SessionSummary & { readonly origin?: Branch; readonly forks?: readonly Branch[] };

/** A session, the session it was forked from, and so on. */
export type Ancestry = readonly BranchedSummary[];

const maxAncestors = 30;

/** Loads the ancestors of a session, and again when `version` changes. */
export function useAncestry(sessionId: string, version: unknown): Ancestry {
  const [ancestry, setAncestry] = useState<Ancestry>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version triggers it
  useEffect(() => {
    let isCurrent = true;
    loadAncestry(sessionId).then(
      (loaded) => isCurrent && setAncestry(loaded),
      () => undefined, // the session view shows the error
    );
    return () => {
      isCurrent = false;
    };
  }, [sessionId, version]);
  return ancestry;
}

async function loadAncestry(sessionId: string): Promise<Ancestry> {
  const ancestry: BranchedSummary[] = [];
  for (let id: string | undefined = sessionId; id !== undefined && ancestry.length < maxAncestors; ) {
    const summary: BranchedSummary | undefined = await client.sessions
      .get(id)
      .catch((thrown) => (ancestry.length === 0 ? Promise.reject(thrown) : undefined));
    if (!summary) break;
    ancestry.push(summary);
    id = summary.origin?.sessionId;
  }
  return ancestry;
}

/** Returns the index of the ancestor that first stored the fact at position `at`. */
function findOwnerIndex(ancestry: Ancestry, at: number): number {
  const index = ancestry.findIndex(({ origin }) => !origin || origin.at < at);
  return index === -1 ? Math.max(0, ancestry.length - 1) : index;
}

/** Returns the sessions that branch after position `at`, and the index of the visible one. */
export function getBranchesAt(
  ancestry: Ancestry,
  at: number,
): { readonly ids: readonly string[]; readonly index: number } {
  const ownerIndex = findOwnerIndex(ancestry, at);
  const owner = ancestry[ownerIndex];
  if (!owner) return { ids: [], index: 0 };
  const forks = (owner.forks ?? []).filter((fork) => fork.at === at).map(({ sessionId }) => sessionId);
  const child = ancestry[ownerIndex - 1];
  const shown = child?.origin?.at === at ? child.id : owner.id;
  const ids = [owner.id, ...forks.filter((id) => id !== owner.id)];
  return { ids, index: Math.max(0, ids.indexOf(shown)) };
}

export type BranchRequest = {
  readonly ancestry: Ancestry;
  readonly sessionId: string;
  /** Position of the last fact to keep, 0 for none. */
  readonly at: number;
  readonly input: string | readonly Part[];
  readonly agent?: string;
  readonly model?: string;
};

/** Starts a run from an earlier position in a new session and returns its id. The original session stays unchanged. */
export async function startBranch({
  ancestry,
  sessionId,
  at,
  input,
  ...rest
}: BranchRequest): Promise<string> {
  // Fork the session that owns the position, so that all its branches are listed in one place.
  const owner = ancestry[findOwnerIndex(ancestry, at)];
  const fork = await client.sessions.fork(owner?.id ?? sessionId, at, {
    // Without shared facts, the title comes from its own first message.
    ...(owner && { title: at === 0 ? "" : owner.title }),
  });
  await client.runs.start({ ...rest, input, sessionId: fork.id });
  return fork.id;
}

/** Repeats a run with the same input in a new session and returns its id. */
export async function repeatRun(
  { input, runId, sessionId, seq, agent }: Extract<Fact, { readonly type: "run_start" }>,
  ancestry: Ancestry,
): Promise<string> {
  const last = input.findLast((entry) => entry.type === "user");
  // Sent again by the user, the words of a file or an application would count as the user's.
  if (!last || input.some((entry) => entry.type === "user" && entry.provenance))
    return (await client.runs.rerun(runId)).sessionId;
  return startBranch({ ancestry, sessionId, at: seq - 1, input: last.content, agent });
}
