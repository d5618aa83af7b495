import type { Part } from "capstan";
import { useRef, useState } from "react";
import { useLocation } from "wouter";
import { type Ancestry, getBranchesAt, repeatRun, startBranch, useAncestry } from "../data/branches.ts";
import type { OpenSession } from "../data/open-session.ts";
import { useSessionList } from "../data/session-list.ts";
import { useSingleFlight } from "../shell/use-single-flight.ts";
import type { Item } from "./messages/build-items.ts";

type UserItem = Extract<Item, { readonly type: "user" }>;

/** Branches of a conversation. The functions are stable. */
export type Branching = {
  readonly ancestry: Ancestry;
  readonly title: string | undefined;
  readonly editing: string | undefined;
  readonly edit: (item: UserItem | undefined) => void;
  /** Sends a different message in place of this one, in a new branch. */
  readonly resend: (item: UserItem, content: string | readonly Part[]) => Promise<void>;
  /** Repeats a run with the same input in a new branch. */
  readonly retry: (runId: string) => Promise<void>;
  readonly switchBranch: (item: UserItem, step: number) => void;
};

export function useBranching({ id, view }: OpenSession): Branching {
  const [, navigate] = useLocation();
  const [editing, setEditing] = useState<string>();
  const ancestry = useAncestry(id, view.seq === 0 ? 0 : (view.runId ?? 1));
  const refresh = useSessionList((list) => list.refresh);
  const runOnce = useSingleFlight();

  const startFrom = (runId: string, input?: string | readonly Part[]) =>
    runOnce(async () => {
      const start = view.runs.get(runId)?.start;
      if (!start) return;
      const { agent } = start;
      const branchId =
        input === undefined
          ? await repeatRun(start, ancestry)
          : await startBranch({ ancestry, sessionId: id, at: start.seq - 1, input, agent });
      navigate(`/sessions/${encodeURIComponent(branchId)}`);
      await refresh();
    });
  const current = {
    resend: (item: UserItem, content: string | readonly Part[]) => startFrom(item.entry.runId, content),
    retry: (runId: string) => startFrom(runId),
    switchBranch(item: UserItem, step: number) {
      const { ids, index: branchIndex } = getBranchesAt(ancestry, (item.startSeq ?? 1) - 1);
      const next = ids[branchIndex + step];
      if (next !== undefined) navigate(`/sessions/${encodeURIComponent(next)}`);
    },
  };
  const latest = useRef(current);
  latest.current = current;
  const [stable] = useState(() => ({
    edit: (item: UserItem | undefined) => setEditing(item?.key),
    resend: (item: UserItem, content: string | readonly Part[]) => latest.current.resend(item, content),
    retry: (runId: string) => latest.current.retry(runId),
    switchBranch: (item: UserItem, step: number) => latest.current.switchBranch(item, step),
  }));
  return { ...stable, ancestry, editing, title: ancestry[0]?.title };
}
