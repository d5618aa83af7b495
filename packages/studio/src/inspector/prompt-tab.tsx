import type { Fact } from "capstan";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { client } from "../data/client.ts";
import type { OpenSession } from "../data/open-session.ts";
import { useRequest } from "../data/use-request.ts";
import { IconButton } from "../ui/button.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { EmptyState, ErrorMessage, Loading } from "../ui/state.tsx";
import { useInspectorFocus } from "./focus.ts";
import { PromptView } from "./prompt-view.tsx";
import { RunPicker } from "./run-picker.tsx";
import { useSelectedRun } from "./use-selected-run.ts";

/** Returns the request that the model received in a turn. */
export function PromptTab({ session }: { readonly session: OpenSession }): ReactNode {
  const { runs, run, select } = useSelectedRun(session);
  const focused = useInspectorFocus(({ factSeq }) => factSeq);
  const [chosen, setChosen] = useState<number>();
  const turnCount = run?.turns ?? 0;
  const focusedTurn = focused === undefined ? undefined : findTurnAt(session.facts, focused, run?.runId);
  const turn = Math.min(Math.max(1, chosen ?? focusedTurn ?? turnCount), Math.max(1, turnCount));
  const runId = run?.runId;
  const key = runId !== undefined && turnCount > 0 ? `${runId} ${turn}` : undefined;
  const { value, error, retry } = useRequest(key, () => client.runs.turn(runId ?? "", turn));
  if (runId === undefined || turnCount === 0)
    return <EmptyState title="No prompt yet">Send a message to see the prompt of a turn.</EmptyState>;
  const facts = session.facts.filter((fact) => fact.runId === runId && fact.turn === turn);
  const messageFact = facts.find((fact) => fact.type === "message");
  const warnings = facts.flatMap((fact) =>
    fact.type === "warning" && promptWarnings.includes(fact.code) ? [fact.message] : [],
  );
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex min-h-10 shrink-0 items-center py-1 gap-1 px-3">
        <IconButton label="Previous turn" disabled={turn <= 1} onClick={() => setChosen(turn - 1)}>
          <ChevronLeft size={15} />
        </IconButton>
        <span className="shrink-0">
          <SelectField
            label="Turn"
            value={String(turn)}
            choices={Array.from({ length: turnCount }, (_, index) => ({
              value: String(index + 1),
              label: `Turn ${index + 1} of ${turnCount}`,
            }))}
            onChange={(value) => setChosen(Number(value))}
          />
        </span>
        <IconButton label="Next turn" disabled={turn >= turnCount} onClick={() => setChosen(turn + 1)}>
          <ChevronRight size={15} />
        </IconButton>
        <RunPicker runs={runs} runId={runId} onChange={select} />
      </div>
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      {error === undefined && value?.turn !== turn && <Loading />}
      {error === undefined && value?.turn === turn && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
        <section aria-label="Prompt" tabIndex={0} className="min-h-0 flex-1 overflow-y-auto px-4 pb-4">
          <PromptView
            key={key}
            runId={runId}
            rebuilt={value}
            message={messageFact}
            isStored={!awaitsModel(facts)}
            warnings={warnings}
          />
        </section>
      )}
    </div>
  );
}

/** Codes of warnings about a request. */
const promptWarnings: readonly string[] = ["cache_prefix_changed", "setting_ignored"];

/** Facts with which the request of a turn is stored. */
const answerTypes: readonly string[] = ["message", "message_partial", "model_failed", "done"];

/** Whether a turn waits for the answer to its request. The facts of an earlier turn may not be loaded. */
function awaitsModel(facts: readonly Fact[]): boolean {
  return (
    facts.some(({ type }) => type === "turn_start") && !facts.some(({ type }) => answerTypes.includes(type))
  );
}

function findTurnAt(facts: readonly Fact[], seq: number, runId: string | undefined): number | undefined {
  const fact = facts[seq - 1];
  return fact?.runId === runId && fact?.turn ? fact.turn : undefined;
}
