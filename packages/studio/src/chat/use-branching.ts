import type { Part } from "capstan";
import { useRef, useState } from "react";
import { useLocation } from "wouter";
import { alternativesAt, type Lineage, startBranch, useLineage } from "../data/branches.ts";
import type { FactIndex } from "../data/fact-index.ts";
import type { OpenSession } from "../data/open-session.ts";
import { useSessionList } from "../data/session-list.ts";
import { useOnce } from "../shell/use-once.ts";
import type { Item } from "./messages/build-items.ts";

type UserItem = Extract<Item, { readonly type: "user" }>;

/** How a conversation can go on differently. Its functions stay the same. */
export type Branching = {
  readonly lineage: Lineage;
  readonly title: string | undefined;
  readonly editing: string | undefined;
  readonly edit: (item: UserItem | undefined) => void;
  /** Says it in place of what was said there, in a new branch. */
  readonly say: (item: UserItem, content: string | readonly Part[]) => Promise<void>;
  /** Begins a run anew with the same words, in a new branch. */
  readonly retry: (runId: string) => Promise<void>;
  readonly goTo: (item: UserItem, step: number) => void;
};

/** For a session that is shown. */
export function useBranching({ id, view }: OpenSession, index: FactIndex): Branching {
  const [, go] = useLocation();
  const [editing, setEditing] = useState<string>();
  const lineage = useLineage(id, view.seq === 0 ? 0 : (view.runId ?? 1));
  const refresh = useSessionList((list) => list.refresh);
  const once = useOnce();

  const begin = (runId: string, input: string | readonly Part[]) =>
    once(async () => {
      const start = index.runStarts.get(runId);
      if (!start) return;
      const { agent } = start;
      const made = await startBranch({ lineage, sessionId: id, at: start.seq - 1, input, agent });
      go(`/sessions/${encodeURIComponent(made)}`);
      await refresh();
    });
  const current = {
    say: (item: UserItem, content: string | readonly Part[]) => begin(item.entry.runId, content),
    retry: async (runId: string) => {
      const asked = index.runStarts.get(runId)?.input.findLast((entry) => entry.type === "user");
      if (asked) await begin(runId, asked.content);
    },
    goTo(item: UserItem, step: number) {
      const { ids, index: shown } = alternativesAt(lineage, (item.startSeq ?? 1) - 1);
      const next = ids[shown + step];
      if (next !== undefined) go(`/sessions/${encodeURIComponent(next)}`);
    },
  };
  const latest = useRef(current);
  latest.current = current;
  const [stable] = useState(() => ({
    edit: (item: UserItem | undefined) => setEditing(item?.key),
    say: (item: UserItem, content: string | readonly Part[]) => latest.current.say(item, content),
    retry: (runId: string) => latest.current.retry(runId),
    goTo: (item: UserItem, step: number) => latest.current.goTo(item, step),
  }));
  return { ...stable, lineage, editing, title: lineage[0]?.title };
}
