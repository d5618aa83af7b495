import type { ReasoningStep } from "capstan/client";
import type { ReactNode } from "react";
import type { OpenSession } from "../data/open-session.ts";
import { steadyText } from "../markdown/visible-text.ts";
import { classNames } from "../ui/class-names.ts";
import { Nothing } from "../ui/state.tsx";
import { type ReasoningTurn, reasoningTurns } from "./reasoning-turns.ts";
import { RunPicker } from "./run-picker.tsx";
import { useChosenRun } from "./use-chosen-run.ts";

/** What was thought and done, turn by turn, with the summaries of the turns. */
export function ReasoningTab({ session }: { readonly session: OpenSession }): ReactNode {
  const { runs, run, choose } = useChosenRun(session);
  if (!run)
    return (
      <Nothing title="Nothing was thought yet">
        Ask something, and read here what leads to the answer.
      </Nothing>
    );
  const turns = reasoningTurns(session.facts, run.runId);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {runs.length > 1 && (
        <div className="flex h-10 shrink-0 items-center px-4">
          <RunPicker runs={runs} runId={run.runId} onChange={choose} />
        </div>
      )}
      <section
        aria-label="Reasoning"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
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
        <span className="min-w-0 truncate text-accent text-xs">{steadyText(agent)}</span>
      </p>
      {summary !== undefined && <p className="mt-0.5 text-quiet italic">{steadyText(summary)}</p>}
      <ul className="mt-1.5 grid gap-1.5 border-l-2 pl-3">
        {steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a list that only grows
          <Step key={index} step={step} />
        ))}
      </ul>
    </li>
  );
}

const names: { readonly [Type in Exclude<ReasoningStep["type"], "iteration">]: string } = {
  thinking: "Thought",
  note: "Said on the way",
  "tool-executing": "Call",
  "tool-result": "Result",
  synthesis: "Answer",
  waiting: "Waits",
  trouble: "Trouble",
  limit: "Limit",
};

const most = 4000;

function Step({ step }: { readonly step: ReasoningStep }): ReactNode {
  const { type, details = "", summary } = step;
  if (type === "iteration") return null;
  const isTool = type === "tool-executing" || type === "tool-result";
  const isBad = type === "trouble" || type === "limit";
  const text = isTool || details === "" ? (summary ?? "") : details;
  return (
    <li className="min-w-0">
      <span className={classNames("text-xs", isBad ? "text-warn" : "text-faint")}>{names[type]}</span>
      <p
        className={classNames(
          "whitespace-pre-wrap text-quiet [overflow-wrap:anywhere]",
          // The whole of it is in the conversation.
          type === "synthesis" && "line-clamp-3",
        )}
      >
        {steadyText(text.slice(0, most))}
        {type === "tool-executing" && (
          <code className="ml-1.5 font-mono text-xs">{steadyText(details.slice(0, 200))}</code>
        )}
      </p>
    </li>
  );
}
