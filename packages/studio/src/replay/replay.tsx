import type { Fact } from "capstan";
import type { SessionWatch } from "capstan/client";
import { GitFork, History, X } from "lucide-react";
import { memo, type ReactNode, useDeferredValue, useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { ListToggle } from "../chat/conversation-header.tsx";
import { client } from "../data/client.ts";
import { type OpenSession, useOpenSession } from "../data/open-session.ts";
import { useSessionList } from "../data/session-list.ts";
import { timelineOf } from "../inspector/timeline/build-timeline.ts";
import { TimelineChart } from "../inspector/timeline/timeline-chart.tsx";
import { ViewPanel } from "../panel/view-panel.tsx";
import { useHasView, useNewestView } from "../panel/view-state.ts";
import { attempt, toast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { classNames } from "../ui/class-names.ts";
import { Failure, Loading, Nothing } from "../ui/state.tsx";
import { prefixViews } from "./prefix-views.ts";
import { ReplayChat } from "./replay-chat.tsx";
import { ReplayControls } from "./replay-controls.tsx";
import { forkPlace, turnStarts } from "./turn-starts.ts";
import { usePlayback } from "./use-playback.ts";

/** A session as it came to be, moment by moment. Nothing is done again. */
export function Replay({ sessionId }: { readonly sessionId: string }): ReactNode {
  const session = useOpenSession(sessionId);
  const error = session?.state.type === "ended" ? session.state.error : undefined;
  if (error && session?.facts.length === 0) return <Failure message={error.message} />;
  if (!session || (session.facts.length === 0 && session.state.type === "connecting"))
    return <Loading label="Loading the session" />;
  if (session.facts.length === 0)
    return <Nothing title="Nothing to replay">Nothing was said in this session yet.</Nothing>;
  return <ReplayOf key={sessionId} session={session} />;
}

function ReplayOf({ session }: { readonly session: OpenSession }): ReactNode {
  const { id, facts, watch } = session;
  const total = facts.length;
  const playback = usePlayback(facts, total);
  // The slider never waits for the picture: what it has passed by need not be drawn.
  const count = useDeferredValue(playback.count);
  const shownTotal = useDeferredValue(total);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list grows; its length says when
  const starts = useMemo(() => turnStarts(facts), [facts, total]);
  return (
    <>
      <ReplayHeader session={session} count={playback.count} />
      <Scene
        sessionId={id}
        facts={facts}
        newest={watch.view}
        total={shownTotal}
        count={count}
        onGoTo={playback.goTo}
      />
      <ReplayControls playback={playback} facts={facts} total={total} starts={starts} />
    </>
  );
}

type SceneProps = {
  readonly sessionId: string;
  readonly facts: readonly Fact[];
  readonly newest: SessionWatch["view"];
  /** How many facts there are. */
  readonly total: number;
  readonly count: number;
  readonly onGoTo: (count: number) => void;
};

/** The chat and the timeline of a moment. */
const Scene = memo(function Scene(props: SceneProps): ReactNode {
  const { sessionId, facts, newest, total, count, onGoTo } = props;
  const views = useMemo(() => prefixViews(facts, newest), [facts, newest]);
  // The chat is there first: of a long session the timeline is work of its own.
  const hasTimeline = useDeferredValue(true, false);
  const view = useMemo(() => views.viewAt(count), [views, count]);
  const index = useMemo(() => views.indexAt(count), [views, count]);
  useNewestView(index.views);
  const hasView = useHasView();
  return (
    <div className="flex min-h-0 flex-1 max-lg:flex-col">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <ReplayChat sessionId={sessionId} view={view} index={index} onShowFact={onGoTo} />
      </div>
      <div
        className={classNames(
          "flex w-[27rem] shrink-0 flex-col border-l max-lg:h-40 max-lg:w-full max-lg:border-l-0 max-lg:border-t",
          hasView && "min-[1400px]:w-[33rem] 2xl:w-[38rem]",
        )}
      >
        {hasView && (
          <div className="flex h-[64%] shrink-0 flex-col border-b">
            <ViewPanel />
          </div>
        )}
        {hasTimeline && <SceneTimeline facts={facts} total={total} count={count} onGoTo={onGoTo} />}
      </div>
    </div>
  );
});

type SceneTimelineProps = Pick<SceneProps, "facts" | "total" | "count" | "onGoTo">;

/** Apart from the chat, so that the browser can breathe between the two. */
function SceneTimeline({ facts, total, count, onGoTo }: SceneTimelineProps): ReactNode {
  const now = facts[count - 1];
  return (
    <TimelineChart
      timeline={timelineOf(facts)}
      version={total}
      now={now?.at ?? 0}
      scale="run"
      isBare
      upTo={now?.seq ?? 0}
      factSeq={now?.seq}
      onSelect={({ seq }) => onGoTo(seq)}
    />
  );
}

type ReplayHeaderProps = { readonly session: OpenSession; readonly count: number };

function ReplayHeader({ session, count }: ReplayHeaderProps): ReactNode {
  const { id, facts } = session;
  const [, go] = useLocation();
  const [isBusy, setBusy] = useState(false);
  const { sessions, refresh } = useSessionList();
  const title = sessions?.find((one) => one.id === id)?.title ?? "Session";
  const place = forkPlace(facts, count);
  async function fork(at: number): Promise<void> {
    setBusy(true);
    try {
      const made = await client.sessions.fork(id, at);
      await refresh();
      toast("Forked. What came after that turn is only in the first session.");
      go(`/sessions/${encodeURIComponent(made.id)}`);
    } finally {
      setBusy(false);
    }
  }
  return (
    <header className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b px-2 py-1.5 sm:px-3">
      <ListToggle />
      <div className="min-w-0 flex-1">
        <h1 className="flex items-center gap-2 truncate text-sm font-semibold">
          <History size={15} aria-hidden="true" className="shrink-0 text-accent" />
          <span className="truncate">{title}</span>
        </h1>
        <p className="text-xs text-quiet">A replay: nothing is run, called or sent.</p>
      </div>
      <Button
        size="small"
        disabled={!place || isBusy}
        title={place ? undefined : "No turn is over at this moment"}
        onClick={() => place && attempt(() => fork(place.seq))}
      >
        <GitFork size={14} aria-hidden="true" />
        <span>
          Fork<span className="max-sm:sr-only">{place ? ` after turn ${place.turn}` : " from here"}</span>
        </span>
      </Button>
      <Link
        href={`/sessions/${encodeURIComponent(id)}`}
        aria-label="Close the replay"
        title="Close the replay"
        className="inline-flex size-8 items-center justify-center rounded-md text-quiet hover:bg-sunken hover:text-ink"
      >
        <X size={16} aria-hidden="true" />
      </Link>
    </header>
  );
}
