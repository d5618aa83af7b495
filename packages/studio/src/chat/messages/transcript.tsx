import type { SessionView } from "capstan/client";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { getBranchesAt } from "../../data/branches.ts";
import { client } from "../../data/client.ts";
import type { OpenSession } from "../../data/open-session.ts";
import { useInspectorFocus } from "../../inspector/focus.ts";
import { runWithToast } from "../../shell/toasts.tsx";
import { Button } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { escapeBidi } from "../../ui/escape-text.ts";
import { EmptyState } from "../../ui/state.tsx";
import { PendingList } from "../approvals/pending-list.tsx";
import type { Branching } from "../use-branching.ts";
import { AssistantMessage } from "./assistant-message.tsx";
import { buildItems, type Item, reuseItems } from "./build-items.ts";
import { type ChatLocation, findFactLocation } from "./find-fact-location.ts";
import { findQueued, type SentText } from "./find-queued.ts";
import { LiveMessage } from "./live-message.tsx";
import { MessageList } from "./message-list.tsx";
import { getNestedKey } from "./nested-key.ts";
import { OutageCard } from "./outage-card.tsx";
import { Replies } from "./replies.tsx";
import { NoticeLine, RunEnd, UngroundedLine } from "./run-end.tsx";
import { StageBadge } from "./stage-badge.tsx";
import { UserMessage } from "./user-message.tsx";

type TranscriptProps = {
  readonly session: OpenSession;
  readonly branching: Branching;
  /** Messages sent to the active run, possibly not delivered yet. */
  readonly sentTexts: readonly SentText[];
  readonly scrollKey: unknown;
  /** Sends a suggested reply. */
  readonly onReply: (text: string) => Promise<void>;
};

/** The messages of a session and its live output. */
export function Transcript(props: TranscriptProps): ReactNode {
  const { session, branching, sentTexts, scrollKey, onReply } = props;
  const { view } = session;
  const items = useItems(view);
  const isSettled = view.status !== "running" && view.status !== "waiting";
  const location = useFocusedLocation(items, session);
  const rows = useRows({ items, session, branching, highlightedSeq: location?.seq });
  if (items.length === 0 && isSettled && view.seq === 0)
    return (
      <div className="flex-1">
        <EmptyState title="No messages yet">Send a message to start.</EmptyState>
      </div>
    );
  const head = session.watch.hasEarlier() ? <EarlierButton watch={session.watch} /> : undefined;
  const tail = <Tail view={view} sentTexts={sentTexts} onReply={onReply} />;
  return <MessageList head={head} rows={rows} scrollKey={scrollKey} location={location} tail={tail} />;
}

/** Loads the messages before the first visible one. */
function EarlierButton({ watch }: Pick<OpenSession, "watch">): ReactNode {
  return <Button onClick={() => runWithToast(() => watch.loadEarlier())}>Load earlier messages</Button>;
}

type RowsProps = Pick<TranscriptProps, "session" | "branching"> & {
  readonly items: readonly Item[];
  /** Position of the row to highlight. */
  readonly highlightedSeq: number | undefined;
};

/** Stable while deltas arrive. */
function useRows({ items, session, branching, highlightedSeq }: RowsProps): readonly ReactNode[] {
  const { runId, status, nested, live } = session.view;
  const { progress } = live;
  const { retry, ancestry, editing } = branching;
  const isSettled = status !== "running" && status !== "waiting";
  const onRepeat = useCallback(() => {
    if (runId !== undefined) runWithToast(() => retry(runId));
  }, [retry, runId]);
  const onRetry = useCallback(() => {
    if (runId !== undefined) runWithToast(() => client.runs.retry(runId));
  }, [runId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only these parts of the branching change
  return useMemo(
    () =>
      items.map((item) => (
        <div key={item.key} data-seq={item.seq} className={getRowStyle(item, highlightedSeq)}>
          <Row
            item={item}
            nested={nested}
            branching={branching}
            progress={item.type === "assistant" && item.entry.runId === runId ? progress : undefined}
            actions={isSettled && getRunId(item) === runId ? { onRepeat, onRetry } : undefined}
          />
        </div>
      )),
    [items, nested, ancestry, editing, progress, runId, isSettled, onRepeat, onRetry, highlightedSeq],
  );
}

function getRowStyle(item: Item, highlightedSeq: number | undefined): string {
  return classNames(
    item.type === "user" ? "pb-2" : "pb-6",
    item.seq === highlightedSeq &&
      "[&>*]:rounded-lg [&>*]:outline-2 [&>*]:outline-offset-2 [&>*]:outline-accent/60",
  );
}

const highlightMs = 1600;

/** The location selected in the inspector, highlighted for a moment. */
function useFocusedLocation(items: readonly Item[], { facts, watch }: OpenSession): ChatLocation | undefined {
  const { inChat, set } = useInspectorFocus();
  const [location, setLocation] = useState<ChatLocation>();
  useEffect(() => {
    // A shared link opens the session and the location at once, before the facts are here.
    if (!inChat || facts.length === 0) return;
    // The effect runs again with the new list of facts.
    if (watch.hasEarlier() && inChat.factSeq < (facts[0]?.seq ?? 0))
      return runWithToast(() => watch.loadEarlier());
    set({ inChat: undefined });
    setLocation(findFactLocation(items, facts, inChat.factSeq));
  }, [inChat, set, items, facts, watch]);
  useEffect(() => {
    if (!location) return;
    const timer = setTimeout(() => setLocation(undefined), highlightMs);
    return () => clearTimeout(timer);
  }, [location]);
  return location;
}

function useItems(view: SessionView): readonly Item[] {
  const previousItems = useRef<readonly Item[]>([]);
  const { entries, runs } = view;
  return useMemo(() => {
    previousItems.current = reuseItems(previousItems.current, buildItems({ entries, runs }));
    return previousItems.current;
  }, [entries, runs]);
}

const getRunId = (item: Item): string => ("entry" in item ? item.entry.runId : item.runId);

type RowProps = Pick<TranscriptProps, "branching"> & {
  readonly nested: SessionView["nested"];
  readonly item: Item;
  readonly progress: SessionView["live"]["progress"] | undefined;
  /** Only for the newest run, once it has ended. */
  readonly actions: RunActions | undefined;
};

type RunActions = {
  /** Sends the same input again, in a new branch. */
  onRepeat(): void;
  /** Continues the run from where it failed. */
  onRetry(): void;
};

function Row({ item, nested, branching, progress, actions }: RowProps): ReactNode {
  if (item.type === "notice") return <NoticeLine item={item} />;
  if (item.type === "ungrounded") return <UngroundedLine />;
  if (item.type === "end")
    return <RunEnd item={item} onRetry={item.canRetry ? actions?.onRetry : actions?.onRepeat} />;
  if (item.type === "assistant") {
    const { calls } = item.entry;
    const isWorking = calls.some(({ state }) => state === "running");
    return (
      <AssistantMessage
        item={item}
        nestedKey={getNestedKey(calls, nested)}
        progress={isWorking ? progress : undefined}
        onRetry={item.isAnswer ? actions?.onRepeat : undefined}
      />
    );
  }
  const { ids, index: branchIndex } = getBranchesAt(branching.ancestry, (item.startSeq ?? 0) - 1);
  const { editing, edit, resend, switchBranch } = branching;
  const branches = item.startSeq === undefined ? 1 : ids.length;
  return (
    <UserMessage
      item={item}
      branch={branchIndex}
      branches={branches}
      isEditing={editing === item.key}
      onEdit={edit}
      onResend={resend}
      onBranch={switchBranch}
    />
  );
}

type TailProps = Pick<TranscriptProps, "sentTexts" | "onReply"> & { readonly view: SessionView };

/** Live output, pending calls and queued messages. */
function Tail({ view, sentTexts, onReply }: TailProps): ReactNode {
  const { status, runId = "", pending } = view;
  const isActive = status === "running" || status === "waiting";
  const queued = isActive ? findQueued(view, sentTexts) : [];
  const isPaused = status === "waiting" && pending.length === 0;
  const until = isPaused ? view.runs.get(runId)?.resumesAt : undefined;
  return (
    <div className="grid gap-4">
      <LiveMessage view={view} />
      <StageBadge view={view} />
      <Replies view={view} onSend={onReply} />
      <PendingList view={view} />
      {until !== undefined && <OutageCard view={view} until={until} />}
      {isPaused && until === undefined && (
        // Delayed, because an answer takes a moment to be processed.
        <p className="animate-[appear_0.2s_0.6s_both] text-sm text-quiet">
          This run is paused. Send a message to continue.
        </p>
      )}
      {queued.map(({ text, seq }) => (
        <div key={`${seq} ${text}`} className="flex flex-col items-end gap-1 opacity-70">
          <p className="max-w-[85%] whitespace-pre-wrap rounded-xl bg-line/55 px-4 py-2.5">
            {escapeBidi(text)}
          </p>
          <p className="px-1 text-xs text-quiet">Queued</p>
        </div>
      ))}
    </div>
  );
}
