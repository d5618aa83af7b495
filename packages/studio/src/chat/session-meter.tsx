import type { SessionView } from "capstan/client";
import type { ReactNode } from "react";
import { type FactIndex, turnKey } from "../data/fact-index.ts";

type SessionMeterProps = { readonly view: SessionView; readonly index: FactIndex };

const number = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** What the session has used, and how full the model's view of it is. */
export function SessionMeter({ view, index }: SessionMeterProps): ReactNode {
  const { usage, runId = "", turn } = view;
  const last = index.messages.get(turnKey(runId, turn)) ?? index.messages.get(turnKey(runId, turn - 1));
  const room = index.runStarts.get(runId)?.policy.contextBudget;
  const sent = last?.usage.inputTokens;
  const total = usage.inputTokens + usage.outputTokens;
  if (total === 0) return <p className="h-5" />;
  const share = typeof room === "number" && sent !== undefined ? Math.min(1, sent / room) : undefined;
  const cached = usage.cachedTokens && usage.inputTokens ? usage.cachedTokens / usage.inputTokens : 0;
  return (
    <p className="flex h-5 items-center gap-3 text-xs text-faint tabular-nums">
      {share !== undefined && (
        <span className="flex items-center gap-1.5" title={`${sent} of ${room} tokens in view`}>
          <span aria-hidden="true" className="h-1 w-14 overflow-hidden rounded-full bg-line">
            <span className="block h-full bg-accent" style={{ width: `${share * 100}%` }} />
          </span>
          {Math.round(share * 100)} % of context
        </span>
      )}
      {share === undefined && sent !== undefined && <span>{number.format(sent)} in context</span>}
      <span>
        {number.format(total)} tokens{usage.estimated ? " (estimate)" : ""}
      </span>
      {cached >= 0.01 && <span>{Math.round(cached * 100)} % cached</span>}
      {usage.cost !== undefined && usage.cost > 0 && <span>{costText(usage.cost)}</span>}
    </p>
  );
}

function costText(dollars: number): string {
  return dollars < 0.01 ? "under $0.01" : `$${dollars.toFixed(2)}`;
}
