import type { SessionView } from "capstan/client";
import {
  type ReactNode,
  startTransition,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { type ConversationActions, ConversationContext } from "../chat/conversation-context.ts";
import { AssistantMessage } from "../chat/messages/assistant-message.tsx";
import { buildItems, getUserLabel, type Item, reuseItems } from "../chat/messages/build-items.ts";
import { getNestedKey } from "../chat/messages/nested-key.ts";
import { NoticeLine, RunEnd, UngroundedLine } from "../chat/messages/run-end.tsx";
import { StageBadge } from "../chat/messages/stage-badge.tsx";
import { UserContent } from "../chat/messages/user-content.tsx";
import { type OpenedSource, SourcePanel } from "../chat/source-panel.tsx";
import { showView } from "../panel/panel-state.ts";
import { Button } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { EmptyState } from "../ui/state.tsx";

type ReplayChatProps = {
  readonly sessionId: string;
  readonly view: SessionView;
  readonly onShowFact: (seq: number) => void;
};

/** Number of rows rendered initially. */
const initialCount = 16;
/** Rows rendered while the slider moves fast. */
const scrubbingCount = 6;
const settleMs = 120;

/** Read-only chat of a moment. */
export function ReplayChat({ sessionId, view, onShowFact }: ReplayChatProps): ReactNode {
  const scroller = useRef<HTMLElement>(null);
  const items = useItems(view);
  const { count, settled, showMore } = useVisibleCount(items.length);
  const [source, setSource] = useState<OpenedSource>();
  const actions = useActions({ sessionId, view, onShowFact }, setSource);
  const hidden = Math.max(0, items.length - count);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every moment is shown from its end
  useLayoutEffect(() => {
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, [view.seq, settled]);
  return (
    <ConversationContext value={actions}>
      <ScrollRegion
        ref={scroller}
        label="Conversation at this moment"
        className="min-h-0 flex-1 overflow-y-auto [scrollbar-gutter:stable_both-edges]"
      >
        {items.length === 0 && (
          <EmptyState title="Start of the session">Press play or move the slider.</EmptyState>
        )}
        <div className="mx-auto grid max-w-3xl gap-5 px-4 py-6">
          {hidden > 0 && (
            <Button kind="quiet" size="small" className="mx-auto" onClick={showMore}>
              Show earlier messages
            </Button>
          )}
          {items.slice(hidden).map((item) => (
            <ReplayItem key={item.key} item={item} nested={view.nested} />
          ))}
          <PendingLine view={view} />
        </div>
      </ScrollRegion>
      <SourcePanel source={source} fragments={view.fragments} onClose={() => setSource(undefined)} />
    </ConversationContext>
  );
}

type VisibleCount = { readonly count: number; readonly settled: number; readonly showMore: () => void };

/** Returns how many of the newest rows to render. `settled` changes when more are rendered after the slider stops. */
function useVisibleCount(length: number): VisibleCount {
  const [shown, setShown] = useState({ length: Number.NEGATIVE_INFINITY, most: initialCount });
  const isFar = Math.abs(length - shown.length) > scrubbingCount;
  useEffect(() => {
    const timer = setTimeout(() => {
      startTransition(() => setShown(({ most }) => ({ length, most: isFar ? initialCount : most })));
    }, settleMs);
    return () => clearTimeout(timer);
  }, [length, isFar]);
  return {
    count: isFar ? scrubbingCount : shown.most,
    settled: shown.length,
    showMore: () => setShown({ length, most: shown.most + 3 * initialCount }),
  };
}

/** Reuses the objects of unchanged items, so that they do not re-render. */
function useItems({ entries, runs }: SessionView): readonly Item[] {
  const previousItems = useRef<readonly Item[]>([]);
  return useMemo(() => {
    previousItems.current = reuseItems(previousItems.current, buildItems({ entries, runs }));
    return previousItems.current;
  }, [entries, runs]);
}

function useActions(
  { sessionId, view, onShowFact }: ReplayChatProps,
  openSource: (source: OpenedSource) => void,
): ConversationActions {
  const latest = useRef({ view, onShowFact });
  latest.current = { view, onShowFact };
  return useMemo(
    () => ({
      sessionId,
      getView: () => latest.current.view,
      openSource,
      showFact: (seq) => latest.current.onShowFact(seq),
      showView,
    }),
    [sessionId, openSource],
  );
}

type ReplayItemProps = { readonly item: Item; readonly nested: SessionView["nested"] };

function ReplayItem({ item, nested }: ReplayItemProps): ReactNode {
  switch (item.type) {
    case "user":
      return (
        <article aria-label={getUserLabel(item)} className="flex justify-end">
          <div className="grid max-w-[85%] gap-2 rounded-xl bg-line/55 px-4 py-2.5">
            <UserContent content={item.entry.content} />
          </div>
        </article>
      );
    case "assistant":
      return <AssistantMessage item={item} nestedKey={getNestedKey(item.entry.calls, nested)} />;
    case "notice":
      return <NoticeLine item={item} />;
    case "ungrounded":
      return <UngroundedLine />;
    case "end":
      return <RunEnd item={item} onRetry={undefined} />;
  }
}

/** Status of the run at the replayed position. */
function PendingLine({ view }: Pick<ReplayChatProps, "view">): ReactNode {
  const [pendingCall] = view.pending;
  if (pendingCall)
    return (
      <p className="text-sm text-warn">
        Waiting for {pendingCall.needs === "approval" ? "an approval" : "an answer"}:{" "}
        {escapeBidi(pendingCall.name)}.
      </p>
    );
  return <StageBadge view={view} />;
}
