import type { Fact, Usage } from "capstan";
import type { ReactNode } from "react";
import type { OpenSession } from "../data/open-session.ts";
import { steadyText } from "../markdown/visible-text.ts";
import { classNames } from "../ui/class-names.ts";
import { spanOf } from "../ui/format-duration.ts";
import { costText, longNumber, shareText, shortNumber } from "./fact-text.ts";

/** What the session has used, in the head of the inspector. */
export function RunMeter({ session }: { readonly session: OpenSession }): ReactNode {
  const { usage } = session.view;
  const { models, last, room, ms, cost } = figuresOf(session.facts);
  const sent = last?.inputTokens;
  const cached = usage.cachedTokens ?? 0;
  const dollars = usage.cost ?? cost;
  return (
    <div className="border-b px-4 pb-3 pt-1">
      <dl className="grid grid-cols-4 gap-2 text-xs">
        <Figure name="Tokens" title={tokensTitle(usage)}>
          {usage.estimated && <span className="text-faint">~</span>}
          {shortNumber(usage.inputTokens + usage.outputTokens)}
        </Figure>
        <Figure name="Cached" title={`${longNumber(cached)} of ${longNumber(usage.inputTokens)} tokens sent`}>
          {shareText(cached, usage.inputTokens)}
        </Figure>
        <Figure name="Cost">{dollars > 0 ? costText(dollars) : "–"}</Figure>
        <Figure name="At work">{spanOf(ms)}</Figure>
      </dl>
      <div className="mt-2.5 flex items-center gap-3 text-xs text-quiet">
        <ContextGauge sent={sent} room={room} />
        <span className="ml-auto min-w-0 truncate" title={models.join(", ")}>
          {steadyText(models.join(", "))}
        </span>
      </div>
    </div>
  );
}

type FigureProps = { readonly name: string; readonly title?: string; readonly children: ReactNode };

function Figure({ name, title, children }: FigureProps): ReactNode {
  return (
    <div title={title}>
      <dt className="text-faint">{name}</dt>
      <dd className="text-[0.9375rem] font-medium leading-tight tabular-nums">{children}</dd>
    </div>
  );
}

type ContextGaugeProps = { readonly sent: number | undefined; readonly room: number | undefined };

/** How full the model's view was when it was last asked. */
function ContextGauge({ sent, room }: ContextGaugeProps): ReactNode {
  if (sent === undefined) return <span className="text-faint">No model was asked yet</span>;
  if (room === undefined)
    return <span className="whitespace-nowrap">{shortNumber(sent)} in context, no limit</span>;
  return (
    <span className="flex items-center gap-2 whitespace-nowrap">
      <span aria-hidden="true" className="h-1.5 w-20 overflow-hidden rounded-full bg-line">
        <span
          className={classNames("block h-full", sent > room * 0.9 ? "bg-warn" : "bg-accent")}
          style={{ width: `${Math.min(100, (100 * sent) / room)}%` }}
        />
      </span>
      {shareText(sent, room)} of {shortNumber(room)} in context
    </span>
  );
}

function tokensTitle({ inputTokens, outputTokens, reasoningTokens, estimated }: Usage): string {
  const thought = reasoningTokens ? `, ${longNumber(reasoningTokens)} of them reasoning` : "";
  return `${longNumber(inputTokens)} in, ${longNumber(outputTokens)} out${thought}${estimated ? ", an estimate" : ""}`;
}

type Figures = {
  readonly models: readonly string[];
  readonly last: Usage | undefined;
  readonly room: number | undefined;
  /** From the beginnings of the runs to their ends, without waiting for people. */
  readonly ms: number;
  readonly cost: number;
};

function figuresOf(facts: readonly Fact[]): Figures {
  const models = new Set<string>();
  let last: Usage | undefined;
  let room: number | undefined;
  let [ms, cost, since] = [0, 0, 0];
  let previous: Fact | undefined;
  for (const fact of facts) {
    if (fact.type === "message") models.add(fact.model);
    if (fact.parentRunId !== undefined) continue;
    if (fact.type === "message") last = fact.usage;
    if (fact.type === "done") cost += fact.cost;
    if (fact.type === "run_start") {
      const { contextBudget } = fact.policy ?? {};
      room = typeof contextBudget === "number" ? contextBudget : undefined;
    } else if (previous?.type !== "waiting") ms += Math.max(0, fact.at - since);
    since = fact.at;
    previous = fact;
  }
  return { models: [...models], last, room, ms, cost };
}
