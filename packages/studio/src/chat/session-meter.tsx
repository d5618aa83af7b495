import type { SessionView } from "capstan/client";
import type { ReactNode } from "react";

const compactNumber = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** Token usage of the session and the share of the context that is in use. */
export function SessionMeter({ view }: { readonly view: SessionView }): ReactNode {
  const { usage, runId = "" } = view;
  const { start, inputTokens } = view.runs.get(runId) ?? {};
  const contextBudget = start?.policy.contextBudget;
  const total = usage.inputTokens + usage.outputTokens;
  if (total === 0) return <p className="h-5" />;
  const share =
    typeof contextBudget === "number" && inputTokens !== undefined
      ? Math.min(1, inputTokens / contextBudget)
      : undefined;
  const cached = usage.cachedTokens && usage.inputTokens ? usage.cachedTokens / usage.inputTokens : 0;
  return (
    <p className="flex h-5 items-center gap-3 text-xs text-faint tabular-nums">
      {share !== undefined && (
        <span
          className="flex items-center gap-1.5"
          title={`${inputTokens} of ${contextBudget} tokens in context`}
        >
          <span aria-hidden="true" className="h-1 w-14 overflow-hidden rounded-full bg-line">
            <span className="block h-full bg-accent" style={{ width: `${share * 100}%` }} />
          </span>
          {Math.round(share * 100)} % of context
        </span>
      )}
      {share === undefined && inputTokens !== undefined && (
        <span>{compactNumber.format(inputTokens)} in context</span>
      )}
      <span>
        {compactNumber.format(total)} tokens{usage.estimated ? " (estimated)" : ""}
      </span>
      {cached >= 0.01 && <span>{Math.round(cached * 100)} % cached</span>}
      {usage.cost !== undefined && usage.cost > 0 && <span>{formatRoughCost(usage.cost)}</span>}
      {usage.unpriced && !usage.cost && <span>cost unknown</span>}
    </p>
  );
}

function formatRoughCost(dollars: number): string {
  return dollars < 0.01 ? "under $0.01" : `$${dollars.toFixed(2)}`;
}
