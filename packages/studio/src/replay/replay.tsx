import type { Fact } from "capstan";
import type { SessionWatch } from "capstan/client";
import { GitFork, History, X } from "lucide-react";
import { memo, type ReactNode, useDeferredValue, useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { client } from "../data/client.ts";
import { type OpenSession, useOpenSession } from "../data/open-session.ts";
import { useSessionList } from "../data/session-list.ts";
import { buildTimeline } from "../inspector/timeline/build-timeline.ts";
import { TimelineChart } from "../inspector/timeline/timeline-chart.tsx";
import { useHasView, useNewestView } from "../panel/panel-state.ts";
import { findPanelView } from "../panel/panel-views.ts";
import { ViewPanel } from "../panel/view-panel.tsx";
import { SidebarToggle } from "../shell/sidebar-toggle.tsx";
import { runWithToast, showToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { classNames } from "../ui/class-names.ts";
import { EmptyState, ErrorMessage, Loading } from "../ui/state.tsx";
import { createPrefixViews } from "./prefix-views.ts";
import { ReplayChat } from "./replay-chat.tsx";
import { ReplayControls } from "./replay-controls.tsx";
import { findForkPoint, findTurnStarts } from "./replay-steps.ts";
import { usePlayback } from "./use-playback.ts";

/** Steps through a session. Nothing is executed. */
export function Replay({ sessionId }: { readonly sessionId: string }): ReactNode {
  const session = useOpenSession(sessionId, { isWhole: true });
  const error = session?.state.type === "ended" ? session.state.error : undefined;
  if (error && session?.facts.length === 0) return <ErrorMessage message={error.message} />;
  if (!session || (session.facts.length === 0 && session.state.type === "connecting"))
    return <Loading label="Loading session" />;
  if (session.facts.length === 0)
    return <EmptyState title="Nothing to replay">This session has no messages yet.</EmptyState>;
  return <ReplayView key={sessionId} session={session} />;
}

function ReplayView({ session }: { readonly session: OpenSession }): ReactNode {
  const { id, facts, watch } = session;
  const total = facts.length;
  const playback = usePlayback(facts, total);
  // The slider does not wait for rendering; skipped moments are not rendered.
  const count = useDeferredValue(playback.count);
  const shownTotal = useDeferredValue(total);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list grows; its length tells when
  const starts = useMemo(() => findTurnStarts(facts), [facts, total]);
  return (
    <>
      <ReplayHeader session={session} count={playback.count} />
      <ReplayBody
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

type ReplayBodyProps = {
  readonly sessionId: string;
  readonly facts: readonly Fact[];
  readonly newest: SessionWatch["view"];
  /** Number of facts. */
  readonly total: number;
  readonly count: number;
  readonly onGoTo: (count: number) => void;
};

/** Chat and timeline of a moment. */
const ReplayBody = memo(function ReplayBody(props: ReplayBodyProps): ReactNode {
  const { sessionId, facts, newest, total, count, onGoTo } = props;
  const views = useMemo(() => createPrefixViews(facts, newest), [facts, newest]);
  // Render the chat first; the timeline of a long session takes longer.
  const hasTimeline = useDeferredValue(true, false);
  const view = useMemo(() => views.getView(count), [views, count]);
  useNewestView(findPanelView(view.hints));
  const hasView = useHasView();
  return (
    <div className="flex min-h-0 flex-1 max-lg:flex-col">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <ReplayChat sessionId={sessionId} view={view} onShowFact={onGoTo} />
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
        {hasTimeline && <ReplayTimeline facts={facts} total={total} count={count} onGoTo={onGoTo} />}
      </div>
    </div>
  );
});

type ReplayTimelineProps = Pick<ReplayBodyProps, "facts" | "total" | "count" | "onGoTo">;

/** Rendered separately from the chat to keep the page responsive. */
function ReplayTimeline({ facts, total, count, onGoTo }: ReplayTimelineProps): ReactNode {
  const now = facts[count - 1];
  return (
    <TimelineChart
      timeline={buildTimeline(facts)}
      version={total}
      now={now?.at ?? 0}
      scale="run"
      isCompact
      upTo={now?.seq ?? 0}
      factSeq={now?.seq}
      onSelect={({ seq }) => onGoTo(seq)}
    />
  );
}

type ReplayHeaderProps = { readonly session: OpenSession; readonly count: number };

function ReplayHeader({ session, count }: ReplayHeaderProps): ReactNode {
  const { id, facts } = session;
  const [, navigate] = useLocation();
  const [isBusy, setBusy] = useState(false);
  const { sessions, refresh } = useSessionList();
  const title = sessions?.find((listedSession) => listedSession.id === id)?.title ?? "Session";
  const forkPoint = findForkPoint(facts, count);
  async function fork(at: number): Promise<void> {
    setBusy(true);
    try {
      const copy = await client.sessions.fork(id, at);
      await refresh();
      showToast("Session forked. Later turns remain in the original session.");
      navigate(`/sessions/${encodeURIComponent(copy.id)}`);
    } finally {
      setBusy(false);
    }
  }
  return (
    <header className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b px-2 py-1.5 sm:px-3">
      <SidebarToggle />
      <div className="min-w-0 flex-1">
        <h1 className="flex items-center gap-2 truncate text-sm font-semibold">
          <History size={15} aria-hidden="true" className="shrink-0 text-accent" />
          <span className="truncate">{title}</span>
        </h1>
        <p className="text-xs text-quiet">Replay only: no models or tools are called.</p>
      </div>
      <Button
        size="small"
        disabled={isBusy}
        blockedBy={!forkPoint && "No completed turn at this point"}
        onClick={() => forkPoint && runWithToast(() => fork(forkPoint.seq))}
      >
        <GitFork size={14} aria-hidden="true" />
        <span>
          Fork
          <span className="max-sm:sr-only">{forkPoint ? ` after turn ${forkPoint.turn}` : " from here"}</span>
        </span>
      </Button>
      <Link
        href={`/sessions/${encodeURIComponent(id)}`}
        aria-label="Close replay"
        title="Close replay"
        className="inline-flex size-8 items-center justify-center rounded-md text-quiet hover:bg-sunken hover:text-ink"
      >
        <X size={16} aria-hidden="true" />
      </Link>
    </header>
  );
}
