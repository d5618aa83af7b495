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
import { type Item, itemsOf, keepItems } from "../chat/messages/build-items.ts";
import { NoticeLine, RunEnd, UngroundedLine } from "../chat/messages/run-end.tsx";
import { StageBadge } from "../chat/messages/stage-badge.tsx";
import { UserContent } from "../chat/messages/user-content.tsx";
import { type OpenedSource, SourcePanel } from "../chat/source-panel.tsx";
import type { FactIndex } from "../data/fact-index.ts";
import { ScrollRegion } from "../markdown/scroll-region.tsx";
import { steadyText } from "../markdown/visible-text.ts";
import { showView } from "../panel/view-state.ts";
import { Button } from "../ui/button.tsx";
import { Nothing } from "../ui/state.tsx";

type ReplayChatProps = {
  readonly sessionId: string;
  readonly view: SessionView;
  readonly index: FactIndex;
  readonly onShowFact: (seq: number) => void;
};

/** So many of the newest are drawn at first: at any moment these are what is looked at. */
const firstShown = 16;
/** While one goes far at once, only what fits on the screen. */
const nearShown = 6;
const settledMs = 120;

/** The chat as it was at a moment: to look at, nothing in it can be done. */
export function ReplayChat({ sessionId, view, index, onShowFact }: ReplayChatProps): ReactNode {
  const scroller = useRef<HTMLElement>(null);
  const items = useItems(view, index);
  const { most, settled, showMore } = useShown(items.length);
  const [source, setSource] = useState<OpenedSource>();
  const actions = useActions({ sessionId, index, onShowFact }, setSource);
  const hidden = Math.max(0, items.length - most);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another moment is looked at from its end
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
        {items.length === 0 && <Nothing title="Before the first word">Play, or move the slider.</Nothing>}
        <div className="mx-auto grid max-w-3xl gap-5 px-4 py-6">
          {hidden > 0 && (
            <Button kind="quiet" size="small" className="mx-auto" onClick={showMore}>
              Show what came before
            </Button>
          )}
          {items.slice(hidden).map((item) => (
            <ReplayItem key={item.key} item={item} nestedSeq={nestedSeqOf(item, index)} />
          ))}
          <Waiting view={view} index={index} />
        </div>
      </ScrollRegion>
      <SourcePanel source={source} index={index} onClose={() => setSource(undefined)} />
    </ConversationContext>
  );
}

type Shown = { readonly most: number; readonly settled: number; readonly showMore: () => void };

/** How many of the newest are drawn. `settled` is another number when more are, because one has stopped. */
function useShown(length: number): Shown {
  const [shown, setShown] = useState({ length: Number.NEGATIVE_INFINITY, most: firstShown });
  const isFar = Math.abs(length - shown.length) > nearShown;
  useEffect(() => {
    const timer = setTimeout(() => {
      startTransition(() => setShown(({ most }) => ({ length, most: isFar ? firstShown : most })));
    }, settledMs);
    return () => clearTimeout(timer);
  }, [length, isFar]);
  return {
    most: isFar ? nearShown : shown.most,
    settled: shown.length,
    showMore: () => setShown({ length, most: shown.most + 3 * firstShown }),
  };
}

/** Items that are the same as a moment before are the same objects, and are not drawn again. */
function useItems(view: SessionView, index: FactIndex): readonly Item[] {
  const before = useRef<readonly Item[]>([]);
  return useMemo(() => {
    before.current = keepItems(before.current, itemsOf(view, index));
    return before.current;
  }, [view, index]);
}

function useActions(
  { sessionId, index, onShowFact }: Omit<ReplayChatProps, "view">,
  openSource: (source: OpenedSource) => void,
): ConversationActions {
  const latest = useRef({ index, onShowFact });
  latest.current = { index, onShowFact };
  return useMemo(
    () => ({
      sessionId,
      index: () => latest.current.index,
      openSource,
      showFact: (seq) => latest.current.onShowFact(seq),
      showView,
    }),
    [sessionId, openSource],
  );
}

/** Another number when more has happened inside the calls of an item. */
function nestedSeqOf(item: Item, { nested }: FactIndex): number {
  if (item.type !== "assistant") return 0;
  return item.entry.calls.reduce((sum, { id }) => sum + (nested.get(id)?.seq ?? 0), 0);
}

type ReplayItemProps = { readonly item: Item; readonly nestedSeq: number };

function ReplayItem({ item, nestedSeq }: ReplayItemProps): ReactNode {
  switch (item.type) {
    case "user":
      return (
        <article aria-label="You said" className="flex justify-end">
          <div className="grid max-w-[85%] gap-2 rounded-xl bg-line/55 px-4 py-2.5">
            <UserContent content={item.entry.content} />
          </div>
        </article>
      );
    case "assistant":
      return <AssistantMessage item={item} nestedSeq={nestedSeq} />;
    case "notice":
      return <NoticeLine item={item} />;
    case "ungrounded":
      return <UngroundedLine />;
    case "end":
      return <RunEnd item={item} onRetry={undefined} />;
  }
}

/** What was going on at this moment, in a line. */
function Waiting({ view, index }: Pick<ReplayChatProps, "view" | "index">): ReactNode {
  const [asked] = view.pending;
  if (asked)
    return (
      <p className="text-sm text-warn">
        Here it waited for {asked.needs === "approval" ? "an approval" : "an answer"}:{" "}
        {steadyText(asked.name)}.
      </p>
    );
  return <StageBadge view={view} settled={index.stage} />;
}
