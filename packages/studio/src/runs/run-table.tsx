import type { RunSummary } from "capstan";
import { formatCount } from "capstan/sessions";
import { ArrowDown, ArrowUp } from "lucide-react";
import type { KeyboardEvent, ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { useAbout } from "../data/about.ts";
import { formatCompactNumber } from "../inspector/format-facts.ts";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatTimeAgo } from "../ui/format-age.ts";
import { formatDuration } from "../ui/format-duration.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import {
  FeedbackMark,
  formatRunCost,
  type RunColumn,
  RunStatusTag,
  runColumns,
  type TagFilter,
  TagList,
} from "./run-columns.tsx";
import type { RunView } from "./run-view.ts";
import { useIsWide } from "./use-is-wide.ts";

type RunTableProps = {
  readonly runs: readonly RunSummary[];
  readonly columns: readonly string[];
  readonly view: RunView;
  readonly onChange: (change: Partial<RunView>) => void;
};

/** The runs as a table, or as cards on a phone. The arrow keys move between them. */
export function RunTable(props: RunTableProps): ReactNode {
  const isWide = useIsWide();
  const filter = { tag: props.view.tag, onTag: (tag: string) => props.onChange({ tag }) };
  if (!isWide) return <RunCards runs={props.runs} filter={filter} />;
  const shown = runColumns.filter(({ id }) => props.columns.includes(id));
  return (
    <ScrollRegion label="Runs" className="overflow-x-auto rounded-lg border bg-raised">
      <table className="w-full border-collapse text-sm" onKeyDown={moveFocus}>
        <thead>
          <tr className="border-b text-left text-xs text-quiet">
            <th scope="col" className="sticky left-0 bg-raised px-3 py-2 font-medium">
              Run
            </th>
            {shown.map((column) => (
              <ColumnHeader key={column.id} column={column} {...props} />
            ))}
          </tr>
        </thead>
        <tbody>
          {props.runs.map((run) => (
            <RunRow key={run.runId} run={run} columns={shown} filter={filter} />
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

type ColumnHeaderProps = Pick<RunTableProps, "view" | "onChange"> & { readonly column: RunColumn };

function ColumnHeader({ column, view, onChange }: ColumnHeaderProps): ReactNode {
  const { label, sort, isNumber } = column;
  const isSorted = sort !== undefined && sort === view.sort;
  const direction = view.order === "asc" ? "ascending" : "descending";
  const align = isNumber ? "text-right" : "";
  if (sort === undefined)
    return (
      <th scope="col" className={`whitespace-nowrap px-3 py-2 font-medium ${align}`}>
        {label}
      </th>
    );
  const order = isSorted && view.order === "desc" ? "asc" : "desc";
  return (
    <th scope="col" aria-sort={isSorted ? direction : "none"} className={`px-1 py-1 font-medium ${align}`}>
      <button
        type="button"
        onClick={() => onChange({ sort, order })}
        className="inline-flex items-center gap-1 whitespace-nowrap rounded px-2 py-1 hover:bg-sunken hover:text-ink"
      >
        {label}
        {isSorted && view.order === "desc" && <ArrowDown size={12} aria-hidden="true" />}
        {isSorted && view.order === "asc" && <ArrowUp size={12} aria-hidden="true" />}
      </button>
    </th>
  );
}

/** Returns the address of a run in its session; undefined for the run of another user. */
function useRunPath({ runId, sessionId, user }: RunSummary): string | undefined {
  const ownUser = useAbout(({ about }) => about?.user);
  if (user !== (ownUser ?? "")) return undefined;
  return `/sessions/${encodeURIComponent(sessionId)}?run=${encodeURIComponent(runId)}`;
}

function RunTitle({ run, path }: { readonly run: RunSummary; readonly path: string | undefined }): ReactNode {
  const title = run.title === "" ? "Untitled run" : escapeBidi(run.title);
  if (path === undefined) return <span title="A run of another user">{title}</span>;
  return (
    <Link href={path} data-run-link="" className="hover:text-accent">
      {title}
    </Link>
  );
}

type RunRowProps = {
  readonly run: RunSummary;
  readonly columns: readonly RunColumn[];
  readonly filter: TagFilter;
};

function RunRow({ run, columns, filter }: RunRowProps): ReactNode {
  const path = useRunPath(run);
  const [, navigate] = useLocation();
  return (
    // The link in the row is for the keyboard; the whole row is for the pointer.
    <tr
      className="group border-b last:border-b-0 hover:bg-sunken has-[a:focus-visible]:bg-accent-soft data-path:cursor-pointer"
      data-path={path}
      onClick={({ target }) => {
        const isOther = target instanceof Element && target.closest("a, button");
        if (path !== undefined && !isOther) navigate(path);
      }}
    >
      <th
        scope="row"
        className="sticky left-0 max-w-72 truncate bg-raised px-3 py-2 text-left font-normal group-hover:bg-sunken group-has-[a:focus-visible]:bg-accent-soft"
        title={escapeBidi(run.title)}
      >
        <RunTitle run={run} path={path} />
      </th>
      {columns.map(({ id, isNumber, render }) => (
        <td
          key={id}
          className={`whitespace-nowrap px-3 py-2 text-quiet ${isNumber ? "text-right tabular-nums" : ""}`}
        >
          {render(run, filter)}
        </td>
      ))}
    </tr>
  );
}

type RunCardsProps = Pick<RunTableProps, "runs"> & { readonly filter: TagFilter };

function RunCards({ runs, filter }: RunCardsProps): ReactNode {
  return (
    <ul aria-label="Runs" className="grid gap-2" onKeyDown={moveFocus}>
      {runs.map((run) => (
        <RunCard key={run.runId} run={run} filter={filter} />
      ))}
    </ul>
  );
}

function RunCard({ run, filter }: Omit<RunRowProps, "columns">): ReactNode {
  const { agent, startedAt, ms, cost, usage, turns, toolCalls, tags, feedback } = run;
  const path = useRunPath(run);
  const figures = [
    ms === undefined ? undefined : formatDuration(ms),
    cost === 0 ? undefined : formatRunCost(cost, usage.unpriced === true),
    `${formatCompactNumber(usage.inputTokens + usage.outputTokens)} tokens`,
    formatCount(turns, "turn"),
    toolCalls === 0 ? undefined : formatCount(toolCalls, "call"),
  ].filter((figure) => figure !== undefined);
  return (
    <li className="relative rounded-lg border bg-raised px-4 py-3 text-sm has-[a:focus-visible]:bg-accent-soft">
      <div className="flex items-start gap-2">
        {/* The link covers the card. */}
        <span className="min-w-0 flex-1 font-medium [overflow-wrap:anywhere] [&_a]:after:absolute [&_a]:after:inset-0">
          <RunTitle run={run} path={path} />
        </span>
        <RunStatusTag run={run} />
      </div>
      <p className="mt-1 text-quiet">
        {escapeBidi(agent)} · {formatTimeAgo(startedAt, Date.now())}
      </p>
      <p className="tabular-nums text-quiet">{figures.join(" · ")}</p>
      {(tags.length > 0 || feedback) && (
        <div className="mt-1.5 flex flex-wrap items-center gap-2">
          {tags.length > 0 && <TagList run={run} filter={filter} />}
          {feedback && <FeedbackMark run={run} />}
        </div>
      )}
    </li>
  );
}

/** Moves the focus between the runs with the arrow keys. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-run-link]")];
  const index = links.indexOf(document.activeElement as HTMLElement);
  const target = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: links.length - 1 }[event.key];
  if (index < 0 || target === undefined) return;
  event.preventDefault();
  links[Math.min(Math.max(target, 0), links.length - 1)]?.focus();
}
