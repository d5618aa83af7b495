import type { Fact, Usage } from "capstan";
import type { ReactNode } from "react";
import type { OpenSession } from "../data/open-session.ts";
import { classNames } from "../ui/class-names.ts";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatDuration } from "../ui/format-duration.ts";
import { formatCompactNumber, formatDollars, formatFullNumber, formatPercent } from "./format-facts.ts";

/** Usage of the session, shown at the top of the inspector. */
export function RunMeter({ session }: { readonly session: OpenSession }): ReactNode {
  const { usage } = session.view;
  const { models, last, contextBudget, ms, cost, version } = computeStats(session.facts);
  const inputTokens = last?.inputTokens;
  const cached = usage.cachedTokens ?? 0;
  const dollars = usage.cost ?? cost;
  return (
    <div className="border-b px-4 pb-3 pt-1">
      <dl className="grid grid-cols-4 gap-2 text-xs">
        <Stat name="Tokens" title={formatTokensTitle(usage)}>
          {usage.estimated && <span className="text-faint">~</span>}
          {formatCompactNumber(usage.inputTokens + usage.outputTokens)}
        </Stat>
        <Stat
          name="Cached"
          title={`${formatFullNumber(cached)} of ${formatFullNumber(usage.inputTokens)} tokens sent, ${formatFullNumber(usage.cacheWriteTokens ?? 0)} written to the cache`}
        >
          {formatPercent(cached, usage.inputTokens)}
        </Stat>
        <Stat name="Cost" title={usage.unpriced ? "The price of a model is unknown." : undefined}>
          {formatCost(dollars, usage.unpriced === true)}
        </Stat>
        <Stat name="Active time">{formatDuration(ms)}</Stat>
      </dl>
      <div className="mt-2.5 flex items-center gap-3 text-xs text-quiet">
        <ContextGauge inputTokens={inputTokens} contextBudget={contextBudget} />
        <span className="ml-auto min-w-0 truncate" title={models.join(", ")}>
          {escapeBidi(models.join(", "))}
        </span>
        {version !== undefined && (
          <code className="shrink-0" title="Version of the agent in the newest run">
            {escapeBidi(version.slice(0, 12))}
          </code>
        )}
      </div>
    </div>
  );
}

function formatCost(dollars: number, isPartial: boolean): string {
  if (dollars === 0) return isPartial ? "unknown" : "–";
  return `${isPartial ? "≥ " : ""}${formatDollars(dollars)}`;
}

type StatProps = { readonly name: string; readonly title?: string | undefined; readonly children: ReactNode };

function Stat({ name, title, children }: StatProps): ReactNode {
  return (
    <div title={title}>
      <dt className="text-faint">{name}</dt>
      <dd className="text-body font-medium leading-tight tabular-nums">{children}</dd>
    </div>
  );
}

type ContextGaugeProps = {
  readonly inputTokens: number | undefined;
  readonly contextBudget: number | undefined;
};

/** Share of the context used by the last model call. */
function ContextGauge({ inputTokens, contextBudget }: ContextGaugeProps): ReactNode {
  if (inputTokens === undefined) return <span className="text-faint">No model calls yet</span>;
  if (contextBudget === undefined)
    return <span className="whitespace-nowrap">{formatCompactNumber(inputTokens)} in context, no limit</span>;
  return (
    <span className="flex items-center gap-2 whitespace-nowrap">
      <span aria-hidden="true" className="h-1.5 w-20 overflow-hidden rounded-full bg-line">
        <span
          className={classNames("block h-full", inputTokens > contextBudget * 0.9 ? "bg-warn" : "bg-accent")}
          style={{ width: `${Math.min(100, (100 * inputTokens) / contextBudget)}%` }}
        />
      </span>
      {formatPercent(inputTokens, contextBudget)} of {formatCompactNumber(contextBudget)} in context
    </span>
  );
}

function formatTokensTitle({ inputTokens, outputTokens, reasoningTokens, estimated }: Usage): string {
  const reasoningNote = reasoningTokens
    ? `, ${formatFullNumber(reasoningTokens)} of which are reasoning`
    : "";
  return `${formatFullNumber(inputTokens)} in, ${formatFullNumber(outputTokens)} out${reasoningNote}${estimated ? " (estimated)" : ""}`;
}

type SessionStats = {
  readonly models: readonly string[];
  readonly last: Usage | undefined;
  readonly contextBudget: number | undefined;
  /** Time from start to end of all runs, without waiting. */
  readonly ms: number;
  readonly cost: number;
  /** Of the agent in the newest run. */
  readonly version: string | undefined;
};

function computeStats(facts: readonly Fact[]): SessionStats {
  const models = new Set<string>();
  let last: Usage | undefined;
  let budget: number | undefined;
  let version: string | undefined;
  let [ms, cost, since] = [0, 0, 0];
  let previous: Fact | undefined;
  for (const fact of facts) {
    if (fact.type === "message" || fact.type === "message_partial") models.add(fact.model);
    if (fact.parentRunId !== undefined) continue;
    if (fact.type === "message") last = fact.usage;
    if (fact.type === "done") cost += fact.cost;
    if (fact.type === "run_start") {
      const { contextBudget } = fact.policy ?? {};
      budget = typeof contextBudget === "number" ? contextBudget : undefined;
      version = fact.agentVersion;
    } else if (previous?.type !== "waiting") ms += fact.elapsedMs ?? Math.max(0, fact.at - since);
    since = fact.at;
    previous = fact;
  }
  return { models: [...models], last, contextBudget: budget, ms, cost, version };
}
