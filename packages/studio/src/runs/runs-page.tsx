import { Pause, Play } from "lucide-react";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { Page } from "../pages/page.tsx";
import { runWithToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState, ErrorMessage, Loading } from "../ui/state.tsx";
import { FilterBar, QuickViews } from "./filter-bar.tsx";
import { usePageSettings } from "./page-settings.ts";
import { RunTable } from "./run-table.tsx";
import { formatView, hasFilter, parseView, type RunView } from "./run-view.ts";
import { useIsWide } from "./use-is-wide.ts";
import { type RunList, useRuns } from "./use-runs.ts";
import { ColumnMenu, ExportLinks, ViewMenu } from "./view-menus.tsx";

const RunPlots = lazy(async () => ({ default: (await import("./run-plots.tsx")).RunPlots }));

/** All runs across sessions. What it shows is in its address, so that it can be shared. */
export function RunsPage(): ReactNode {
  const view = parseView(useSearch());
  const [, navigate] = useLocation();
  const [isLive, setIsLive] = useState(true);
  const list = useRuns(view, isLive);
  const isWide = useIsWide();
  const onChange = (change: Partial<RunView>) => {
    const search = formatView({ ...view, ...change });
    navigate(search === "" ? "/runs" : `/runs?${search}`, { replace: true });
  };
  return (
    <Page
      isWide
      title="Runs"
      about="Every run of your sessions: what it cost, how long it took, and how it ended."
      actions={
        <>
          <Button size="small" aria-pressed={isLive} onClick={() => setIsLive(!isLive)}>
            {isLive ? <Pause size={14} aria-hidden="true" /> : <Play size={14} aria-hidden="true" />}
            {isLive ? "Live" : "Paused"}
          </Button>
          <ViewMenu view={view} onChange={onChange} />
          {isWide && <ColumnMenu />}
          <ExportLinks view={view} />
        </>
      }
    >
      <div className="mb-4 grid gap-3">
        <QuickViews view={view} onChange={onChange} />
        <FilterBar view={view} statistics={list.statistics} onChange={onChange} />
      </div>
      {list.statistics && (
        <div className="mb-4 min-h-48">
          <Suspense fallback={<Loading label="Loading plots" />}>
            <RunPlots statistics={list.statistics} view={view} onChange={onChange} />
          </Suspense>
        </div>
      )}
      <RunResults list={list} view={view} onChange={onChange} />
    </Page>
  );
}

type RunResultsProps = {
  readonly list: RunList;
  readonly view: RunView;
  readonly onChange: (change: Partial<RunView>) => void;
};

function RunResults({ list, view, onChange }: RunResultsProps): ReactNode {
  const columns = usePageSettings((settings) => settings.columns);
  const { runs, error, hasMore, loadMore, refresh } = list;
  if (error !== undefined) return <ErrorMessage message={error} onRetry={refresh} />;
  if (!runs) return <Loading label="Loading runs" />;
  if (runs.length === 0)
    return (
      <EmptyState title={hasFilter(view) ? "No runs match" : "No runs in this time"}>
        {hasFilter(view)
          ? "Remove a filter, or choose a longer time."
          : "Choose a longer time, or start a chat."}
      </EmptyState>
    );
  return (
    <>
      <RunTable runs={runs} columns={columns} view={view} onChange={onChange} />
      {hasMore && (
        <div className="mt-3">
          <Button onClick={() => runWithToast(loadMore)}>Show more</Button>
        </div>
      )}
    </>
  );
}
