import type { ReasoningStep } from "capstan/client";
import type { ReactNode } from "react";
import type { OpenSession } from "../data/open-session.ts";
import { classNames } from "../ui/class-names.ts";
import { escapeBidi } from "../ui/escape-text.ts";
import { EmptyState } from "../ui/state.tsx";
import { groupReasoningTurns, type ReasoningTurn } from "./group-reasoning-turns.ts";
import { RunPicker } from "./run-picker.tsx";
import { useSelectedRun } from "./use-selected-run.ts";

/** Reasoning, calls and summaries, by turn. */
export function ReasoningTab({ session }: { readonly session: OpenSession }): ReactNode {
  const { runs, run, select } = useSelectedRun(session);
  if (!run)
    return <EmptyState title="No reasoning yet">Send a message to see how the answer is reached.</EmptyState>;
  const turns = groupReasoningTurns(session.facts, run.runId);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {runs.length > 1 && (
        <div className="flex min-h-10 shrink-0 items-center py-1 px-4">
          <RunPicker runs={runs} runId={run.runId} onChange={select} />
        </div>
      )}
      <section
        aria-label="Reasoning"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
        tabIndex={0}
        className="min-h-0 flex-1 overflow-y-auto px-4 py-3"
      >
        <ol className="grid gap-4">
          {turns.map((turn) => (
            <Turn key={turn.turn} turn={turn} />
          ))}
        </ol>
      </section>
    </div>
  );
}

function Turn({ turn: { title, agent, summary, steps } }: { readonly turn: ReasoningTurn }): ReactNode {
  return (
    <li className="min-w-0 text-sm">
      <p className="flex items-baseline gap-2">
        <span className="font-medium">{title}</span>
        <span className="min-w-0 truncate text-accent text-xs">{escapeBidi(agent)}</span>
      </p>
      {summary !== undefined && <p className="mt-0.5 text-quiet italic">{escapeBidi(summary)}</p>}
      <ul className="mt-1.5 grid gap-1.5 border-l-2 pl-3">
        {steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list is append-only
          <Step key={index} step={step} />
        ))}
      </ul>
    </li>
  );
}

const stepLabels: { readonly [Type in Exclude<ReasoningStep["type"], "iteration">]: string } = {
  thinking: "Reasoning",
  note: "Note",
  "tool-executing": "Call",
  "tool-result": "Result",
  synthesis: "Answer",
  waiting: "Waiting",
  trouble: "Problem",
  limit: "Limit",
};

const maxTextLength = 4000;

function Step({ step }: { readonly step: ReasoningStep }): ReactNode {
  const { type, details = "", summary } = step;
  if (type === "iteration") return null;
  const isTool = type === "tool-executing" || type === "tool-result";
  const isBad = type === "trouble" || type === "limit";
  const text = isTool || details === "" ? (summary ?? "") : details;
  return (
    <li className="min-w-0">
      <span className={classNames("text-xs", isBad ? "text-warn" : "text-faint")}>{stepLabels[type]}</span>
      <p
        className={classNames(
          "whitespace-pre-wrap text-quiet [overflow-wrap:anywhere]",
          // The full answer is in the conversation.
          type === "synthesis" && "line-clamp-3",
        )}
      >
        {escapeBidi(text.slice(0, maxTextLength))}
        {type === "tool-executing" && (
          <code className="ml-1.5 font-mono text-xs">{escapeBidi(details.slice(0, 200))}</code>
        )}
      </p>
    </li>
  );
}
