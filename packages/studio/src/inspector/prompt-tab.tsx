import type { Fact, ToolChoice, ToolSpec, Usage } from "capstan";
import type { SentTurn } from "capstan/client";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { client } from "../data/client.ts";
import type { OpenSession } from "../data/open-session.ts";
import { useRequest } from "../data/use-request.ts";
import { IconButton } from "../ui/button.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { SelectField } from "../ui/select-field.tsx";
import { EmptyState, ErrorMessage, Loading } from "../ui/state.tsx";
import { EntryList } from "./entry-list.tsx";
import { useInspectorFocus } from "./focus.ts";
import { formatFullNumber } from "./format-facts.ts";
import { formatSettings } from "./format-settings.ts";
import { RawJson } from "./raw-json.tsx";
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
  const messageFact = session.facts.find(
    (fact) => fact.type === "message" && fact.runId === runId && fact.turn === turn,
  );
  const warnings = session.facts.flatMap((fact) =>
    fact.type === "warning" &&
    promptWarnings.includes(fact.code) &&
    fact.runId === runId &&
    fact.turn === turn
      ? [fact.message]
      : [],
  );
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex h-10 shrink-0 items-center gap-1 px-3">
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
          <SentPrompt
            sent={value}
            usage={messageFact?.type === "message" ? messageFact.usage : undefined}
            warnings={warnings}
          />
        </section>
      )}
    </div>
  );
}

/** Codes of warnings about a request. */
const promptWarnings: readonly string[] = ["cache_prefix_changed", "setting_ignored"];

function findTurnAt(facts: readonly Fact[], seq: number, runId: string | undefined): number | undefined {
  const fact = facts[seq - 1];
  return fact?.runId === runId && fact?.turn ? fact.turn : undefined;
}

type SentPromptProps = {
  readonly sent: SentTurn;
  readonly usage: Usage | undefined;
  readonly warnings: readonly string[];
};

/** The request of a turn, and why its start was not cached. */
export function SentPrompt({ sent, usage, warnings }: SentPromptProps): ReactNode {
  const { instructions, notes, tools, toolChoice, history, instructionsAreRebuilt, toolsAreRebuilt } = sent;
  const isRebuilt = instructionsAreRebuilt || toolsAreRebuilt;
  const rebuiltParts = [instructionsAreRebuilt && "instructions", toolsAreRebuilt && "tools"]
    .filter(Boolean)
    .join(" and ");
  return (
    <div className="grid gap-4">
      <p className="text-xs text-quiet">
        {escapeBidi(sent.agent)} called {escapeBidi(sent.model)}
        {usage && `, ${formatFullNumber(usage.inputTokens)} tokens in total`}
        {usage?.cachedTokens !== undefined && `, ${formatFullNumber(usage.cachedTokens)} of them cached`}
        {sent.settings && `, with ${escapeBidi(formatSettings(sent.settings))}`}
      </p>
      {warnings.map((warning) => (
        <p
          key={warning}
          className="rounded-md bg-warn-soft px-3 py-2 text-xs text-warn [overflow-wrap:anywhere]"
        >
          {escapeBidi(warning)}
        </p>
      ))}
      {isRebuilt && (
        <p className="rounded-md bg-warn-soft px-3 py-2 text-xs text-warn">
          The {rebuiltParts} are generated for each request. These are the current ones and may differ from
          what was sent.
        </p>
      )}
      <PromptSection title="Instructions" size={estimateTokens(instructions)}>
        <PlainText text={instructions} />
        {notes.map((note) => (
          <div key={note} className="mt-2 rounded-md border border-accent/40 bg-accent-soft px-3 py-2">
            <p className="text-xs font-medium text-accent">Added for this turn</p>
            <PlainText text={note} />
          </div>
        ))}
      </PromptSection>
      <PromptSection
        title={tools.length === 0 ? "No tools" : `${tools.length} tools, ${formatToolChoice(toolChoice)}`}
        size={estimateTokens(JSON.stringify(tools))}
      >
        <ul className="grid gap-1">
          {tools.map((tool) => (
            <ToolLine key={tool.name} tool={tool} />
          ))}
        </ul>
      </PromptSection>
      <PromptSection
        title={`History, ${history.length} entries`}
        size={estimateTokens(JSON.stringify(history))}
      >
        <EntryList entries={history} />
      </PromptSection>
    </div>
  );
}

function formatToolChoice(choice: ToolChoice): string {
  if (typeof choice === "object") return `${escapeBidi(choice.tool)} required`;
  return { none: "disabled", required: "one required", auto: "available" }[choice];
}

/** An estimate: the provider's count exists only for the whole request. */
const estimateTokens = (text: string) => Math.ceil(text.length / 4);

type PromptSectionProps = { readonly title: string; readonly size: number; readonly children: ReactNode };

function PromptSection({ title, size, children }: PromptSectionProps): ReactNode {
  return (
    <section aria-label={title}>
      <h3 className="mb-1.5 flex items-baseline justify-between gap-2 text-[0.8125rem] font-medium">
        {title}
        <span className="text-xs font-normal text-faint tabular-nums">
          about {formatFullNumber(size)} tokens
        </span>
      </h3>
      {children}
    </section>
  );
}

function PlainText({ text }: { readonly text: string }): ReactNode {
  if (text.trim() === "") return <p className="text-xs text-faint">None</p>;
  return (
    <p dir="auto" className="whitespace-pre-wrap text-[0.8125rem] [overflow-wrap:anywhere]">
      {escapeInvisible(text)}
    </p>
  );
}

function ToolLine({ tool }: { readonly tool: ToolSpec }): ReactNode {
  return (
    <li>
      <details className="rounded-md border px-3 py-1.5">
        <summary className="cursor-pointer text-[0.8125rem]">
          <span className="font-medium">{escapeBidi(tool.name)}</span>{" "}
          <span className="text-xs text-quiet">{escapeBidi(tool.description.split("\n")[0] ?? "")}</span>
        </summary>
        <p className="my-1.5 whitespace-pre-wrap text-xs text-quiet [overflow-wrap:anywhere]">
          {escapeInvisible(tool.description)}
        </p>
        <RawJson label={`the input of ${tool.name}`} value={tool.input} />
      </details>
    </li>
  );
}
