import type { SessionView } from "capstan/client";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { alternativesAt } from "../../data/branches.ts";
import type { FactIndex } from "../../data/fact-index.ts";
import type { OpenSession } from "../../data/open-session.ts";
import { useInspectorFocus } from "../../inspector/focus.ts";
import { steadyText } from "../../markdown/visible-text.ts";
import { attempt } from "../../shell/toasts.tsx";
import { classNames } from "../../ui/class-names.ts";
import { Nothing } from "../../ui/state.tsx";
import { PendingList } from "../approvals/pending-list.tsx";
import type { Branching } from "../use-branching.ts";
import { AssistantMessage } from "./assistant-message.tsx";
import { type Item, itemsOf, keepItems } from "./build-items.ts";
import { type ChatPlace, placeOfFact } from "./find-fact-location.ts";
import { LiveMessage } from "./live-message.tsx";
import { MessageList } from "./message-list.tsx";
import { Replies } from "./replies.tsx";
import { NoticeLine, RunEnd, UngroundedLine } from "./run-end.tsx";
import { StageBadge } from "./stage-badge.tsx";
import { UserMessage } from "./user-message.tsx";

type TranscriptProps = {
  readonly session: OpenSession;
  readonly index: FactIndex;
  readonly branching: Branching;
  /** Said to the run that is on, and perhaps not heard yet. */
  readonly told: readonly string[];
  readonly jumpOn: unknown;
  /** Says what the person has chosen of the replies that are offered. */
  readonly onReply: (text: string) => Promise<void>;
};

/** All that was said and done, and what is at this moment. */
export function Transcript(props: TranscriptProps): ReactNode {
  const { session, index, branching, told, jumpOn, onReply } = props;
  const { id, view } = session;
  const items = useItems(view, index);
  const isOver = view.status !== "running" && view.status !== "waiting";
  const place = usePlace(items, session, index);
  const rows = useRows({ items, session, index, branching, marked: place?.seq });
  if (items.length === 0 && isOver && view.seq === 0)
    return (
      <div className="flex-1">
        <Nothing title="Nothing was said here yet">Write something below to begin.</Nothing>
      </div>
    );
  const tail = <Tail id={id} view={view} index={index} told={told} onReply={onReply} />;
  return <MessageList rows={rows} jumpOn={jumpOn} place={place} tail={tail} />;
}

type RowsProps = Pick<TranscriptProps, "session" | "index" | "branching"> & {
  readonly items: readonly Item[];
  /** The position of one that is looked for. */
  readonly marked: number | undefined;
};

/** The same ones while words come in: they say nothing about what is settled. */
function useRows({ items, session, index, branching, marked }: RowsProps): readonly ReactNode[] {
  const { runId, status, seq, live } = session.view;
  const { progress } = live;
  const { retry, lineage, editing } = branching;
  const isOver = status !== "running" && status !== "waiting";
  const onRetry = useCallback(() => {
    if (runId !== undefined) attempt(() => retry(runId));
  }, [retry, runId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the index grows with the position; of the branching only these change
  return useMemo(
    () =>
      items.map((item) => (
        <div key={item.key} data-seq={item.seq} className={rowLook(item, marked)}>
          <Row
            item={item}
            index={index}
            branching={branching}
            progress={item.type === "assistant" && item.entry.runId === runId ? progress : undefined}
            onRetry={isOver && runIdOf(item) === runId ? onRetry : undefined}
          />
        </div>
      )),
    [items, index, seq, lineage, editing, progress, runId, isOver, onRetry, marked],
  );
}

function rowLook(item: Item, marked: number | undefined): string {
  return classNames(
    item.type === "user" ? "pb-2" : "pb-6",
    item.seq === marked && "[&>*]:rounded-lg [&>*]:outline-2 [&>*]:outline-offset-8 [&>*]:outline-accent/60",
  );
}

const markedMs = 1600;

/** Where the inspector has sent the conversation to, for a moment. */
function usePlace(items: readonly Item[], { facts }: OpenSession, index: FactIndex): ChatPlace | undefined {
  const { inChat, set } = useInspectorFocus();
  const [place, setPlace] = useState<ChatPlace>();
  useEffect(() => {
    if (!inChat) return;
    set({ inChat: undefined });
    setPlace(placeOfFact(items, { facts, index }, inChat.factSeq));
  }, [inChat, set, items, facts, index]);
  useEffect(() => {
    if (!place) return;
    const timer = setTimeout(() => setPlace(undefined), markedMs);
    return () => clearTimeout(timer);
  }, [place]);
  return place;
}

function useItems(view: SessionView, index: FactIndex): readonly Item[] {
  const before = useRef<readonly Item[]>([]);
  const { entries, seq } = view;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the index grows with the position
  return useMemo(() => {
    before.current = keepItems(before.current, itemsOf({ entries }, index));
    return before.current;
  }, [entries, seq, index]);
}

const runIdOf = (item: Item): string => ("entry" in item ? item.entry.runId : item.runId);

type RowProps = Pick<TranscriptProps, "index" | "branching"> & {
  readonly item: Item;
  readonly progress: SessionView["live"]["progress"] | undefined;
  readonly onRetry: (() => void) | undefined;
};

function Row({ item, index, branching, progress, onRetry }: RowProps): ReactNode {
  if (item.type === "notice") return <NoticeLine item={item} />;
  if (item.type === "ungrounded") return <UngroundedLine />;
  if (item.type === "end") return <RunEnd item={item} onRetry={onRetry} />;
  if (item.type === "assistant") {
    const { calls } = item.entry;
    const isWorking = calls.some(({ state }) => state === "running");
    const nestedSeq = calls.reduce((sum, { id }) => sum + (index.nested.get(id)?.seq ?? 0), 0);
    return (
      <AssistantMessage
        item={item}
        nestedSeq={nestedSeq}
        progress={isWorking ? progress : undefined}
        onRetry={item.isAnswer ? onRetry : undefined}
      />
    );
  }
  const { ids, index: shown } = alternativesAt(branching.lineage, (item.startSeq ?? 0) - 1);
  const { editing, edit, say, goTo } = branching;
  const branches = item.startSeq === undefined ? 1 : ids.length;
  return (
    <UserMessage
      item={item}
      branch={shown}
      branches={branches}
      isEditing={editing === item.key}
      onEdit={edit}
      onSay={say}
      onBranch={goTo}
    />
  );
}

type TailProps = Pick<TranscriptProps, "index" | "told" | "onReply"> & {
  readonly id: string;
  readonly view: SessionView;
};

/** What is not settled yet. */
function Tail({ id, view, index, told, onReply }: TailProps): ReactNode {
  const { status, runId = "", pending, entries } = view;
  const isOn = status === "running" || status === "waiting";
  const isHeard = (text: string) =>
    entries.some((entry) => entry.type === "user" && entry.runId === runId && entry.content === text);
  const unheard = isOn ? told.filter((text) => !isHeard(text)) : [];
  const isResting = status === "waiting" && pending.length === 0;
  const until = isResting ? index.rests.get(runId)?.until : undefined;
  return (
    <div className="grid gap-4">
      <LiveMessage view={view} />
      <StageBadge view={view} settled={index.stage} />
      <Replies view={view} onSay={onReply} />
      <PendingList view={view} sessionId={id} index={index} />
      {until !== undefined && (
        <p className="text-sm text-quiet">
          The model asks for patience. It goes on at{" "}
          {new Date(until).toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit" })}.
        </p>
      )}
      {isResting && until === undefined && (
        // After a moment: an answer that was given is not taken at once.
        <p className="animate-[appear_0.2s_0.6s_both] text-sm text-quiet">
          It has not come to an end. Say something, and it goes on.
        </p>
      )}
      {unheard.map((text) => (
        <div key={text} className="flex flex-col items-end gap-1 opacity-70">
          <p className="max-w-[85%] whitespace-pre-wrap rounded-xl bg-line/55 px-4 py-2.5">
            {steadyText(text)}
          </p>
          <p className="px-1 text-xs text-quiet">It will be read before the next turn.</p>
        </div>
      ))}
    </div>
  );
}
