import type { RunDelivery, RunSummary } from "capstan";
import { formatCount } from "capstan/sessions";
import { ThumbsDown, ThumbsUp } from "lucide-react";
import type { ReactNode } from "react";
import { formatCompactNumber, formatDollars, formatPercent } from "../inspector/format-facts.ts";
import { Tag } from "../pages/page.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatTimeAgo } from "../ui/format-age.ts";
import { formatDuration } from "../ui/format-duration.ts";

/** A column of the table, after the title of the run. */
export type RunColumn = {
  readonly id: string;
  readonly label: string;
  /** The order that a click on the header chooses. */
  readonly sort?: string;
  readonly isNumber?: boolean;
  readonly render: (run: RunSummary, filter: TagFilter) => ReactNode;
};

/** The tag that selects the runs, and how to choose another; empty selects all. */
export type TagFilter = { readonly tag: string; readonly onTag: (tag: string) => void };

export const runColumns: readonly RunColumn[] = [
  { id: "status", label: "Status", render: (run) => <RunStatusTag run={run} /> },
  { id: "agent", label: "Agent", render: (run) => <AgentName run={run} /> },
  {
    ...{ id: "started", label: "Started", sort: "startedAt" },
    render: ({ startedAt }) => (
      <time dateTime={new Date(startedAt).toISOString()} title={new Date(startedAt).toLocaleString("en")}>
        {formatTimeAgo(startedAt, Date.now())}
      </time>
    ),
  },
  {
    ...{ id: "duration", label: "Duration", sort: "ms", isNumber: true },
    render: ({ ms }) => (ms === undefined ? "–" : formatDuration(ms)),
  },
  {
    ...{ id: "cost", label: "Cost", sort: "cost", isNumber: true },
    render: ({ cost, usage }) => formatRunCost(cost, usage.unpriced === true),
  },
  {
    ...{ id: "tokens", label: "Tokens", sort: "tokens", isNumber: true },
    render: ({ usage }) => formatCompactNumber(usage.inputTokens + usage.outputTokens),
  },
  {
    ...{ id: "cached", label: "Cached", isNumber: true },
    render: ({ usage }) => formatPercent(usage.cachedTokens ?? 0, usage.inputTokens),
  },
  { ...{ id: "turns", label: "Turns", sort: "turns", isNumber: true }, render: ({ turns }) => turns },
  { id: "tools", label: "Tools", render: ({ tools, toolCalls }) => formatTools(tools, toolCalls) },
  { id: "models", label: "Models", render: ({ models }) => escapeBidi(models.join(", ")) },
  { id: "stopReason", label: "Stop reason", render: ({ stopReason }) => stopReason ?? "–" },
  { id: "user", label: "User", render: ({ user }) => (user === "" ? "–" : escapeBidi(user)) },
  { id: "tags", label: "Tags", render: (run, filter) => <TagList run={run} filter={filter} /> },
  { id: "feedback", label: "Feedback", render: (run) => <FeedbackMark run={run} /> },
];

export const usualColumns: readonly string[] = [
  ...["status", "agent", "started", "duration", "cost", "tokens", "turns", "tools", "tags", "feedback"],
];

const statusTones = { failed: "bad", limit: "warn", cancelled: "quiet", done: "quiet" } as const;
const stateLabels = { active: "running", waiting: "waiting", ended: "ended" } as const;

/** The status of an ended run, or the state of another one. */
export function RunStatusTag({ run }: { readonly run: RunSummary }): ReactNode {
  const { status, state, errorCode } = run;
  const label = status ?? stateLabels[state];
  return (
    <span title={errorCode} className="whitespace-nowrap">
      <Tag tone={status ? statusTones[status] : "accent"}>{label}</Tag>
    </span>
  );
}

function AgentName({ run: { agent, agentVersion } }: { readonly run: RunSummary }): ReactNode {
  return (
    <>
      {escapeBidi(agent)}
      {agentVersion !== undefined && (
        <span className="ml-1.5 font-mono text-xs text-faint" title={`Version ${agentVersion}`}>
          {agentVersion.slice(0, 6)}
        </span>
      )}
    </>
  );
}

type TagListProps = { readonly run: RunSummary; readonly filter: TagFilter };

/** The tags of a run, each of which selects its runs, and whether a result was delivered if a webhook started the run. */
export function TagList({ run: { tags, state, delivery }, filter }: TagListProps): ReactNode {
  if (tags.length === 0) return "–";
  return (
    <span className="flex flex-wrap gap-1 [td_&]:flex-nowrap">
      {tags.map((tag) => (
        <button
          key={tag}
          type="button"
          aria-pressed={filter.tag === tag}
          title={filter.tag === tag ? "Show runs with any tag" : "Show runs with this tag only"}
          onClick={() => filter.onTag(filter.tag === tag ? "" : tag)}
          className="relative inline-flex items-center rounded border bg-raised px-1.5 text-xs leading-4.5 text-quiet hover:border-accent hover:text-accent aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent pointer-coarse:min-h-11 pointer-coarse:px-3"
        >
          {escapeBidi(tag)}
        </button>
      ))}
      {delivery && state === "ended" && <DeliveryTag delivery={delivery} />}
    </span>
  );
}

const deliveryTones = { pending: "warn", delivered: "quiet", failed: "bad" } as const;
const deliveryLabels = {
  pending: "delivery pending",
  delivered: "delivered",
  failed: "delivery failed",
} as const;

function DeliveryTag({ delivery }: { readonly delivery: RunDelivery }): ReactNode {
  const { state, attempts, error, nextAt } = delivery;
  const next = nextAt === undefined ? undefined : `Next attempt: ${new Date(nextAt).toLocaleString("en")}`;
  const details = [error, formatCount(attempts, "attempt"), next].filter((line) => line !== undefined);
  return (
    <span title={escapeBidi(details.join("\n"))}>
      <Tag tone={deliveryTones[state]}>{deliveryLabels[state]}</Tag>
    </span>
  );
}

/** The rating of a run, with its note as a tooltip. */
export function FeedbackMark({ run: { feedback } }: { readonly run: RunSummary }): ReactNode {
  if (!feedback) return "–";
  const { rating, note, correction } = feedback;
  const words = [note, correction && `Correct answer: ${correction}`].filter(Boolean).join("\n");
  const label = rating === undefined ? "Note" : `Thumbs ${rating}`;
  return (
    <span title={escapeBidi(words)} className="inline-flex items-center gap-1">
      <span className="sr-only">{label}</span>
      {rating === "up" && <ThumbsUp size={14} aria-hidden="true" className="text-good" />}
      {rating === "down" && <ThumbsDown size={14} aria-hidden="true" className="text-bad" />}
      {words !== "" && <span className="max-w-40 truncate text-xs text-quiet">{escapeBidi(words)}</span>}
    </span>
  );
}

export function formatRunCost(cost: number, isPartial: boolean): string {
  if (cost === 0) return isPartial ? "unknown" : "–";
  return `${isPartial ? "≥ " : ""}${formatDollars(cost)}`;
}

function formatTools(tools: readonly string[], calls: number): ReactNode {
  if (calls === 0) return "–";
  return (
    <span title={escapeBidi(tools.join(", "))} className="block max-w-48 truncate">
      <span className="tabular-nums text-faint">{calls} × </span>
      {escapeBidi(tools.join(", "))}
    </span>
  );
}
