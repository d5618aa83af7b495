import type { Fact, ToolSpec } from "capstan";
import type { SentTurn } from "capstan/client";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { client } from "../data/client.ts";
import { turnKey } from "../data/fact-index.ts";
import type { OpenSession } from "../data/open-session.ts";
import { useAnswer } from "../data/use-request.ts";
import { steadyText, visibleText } from "../markdown/visible-text.ts";
import { IconButton } from "../ui/button.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { Failure, Loading, Nothing } from "../ui/state.tsx";
import { EntryList } from "./entry-list.tsx";
import { longNumber } from "./fact-text.ts";
import { useInspectorFocus } from "./focus.ts";
import { RawJson } from "./raw-json.tsx";
import { RunPicker } from "./run-picker.tsx";
import { useChosenRun } from "./use-chosen-run.ts";

/** What the model was sent in a turn. */
export function PromptTab({ session }: { readonly session: OpenSession }): ReactNode {
  const { runs, run, choose } = useChosenRun(session);
  const focused = useInspectorFocus(({ factSeq }) => factSeq);
  const [chosen, setChosen] = useState<number>();
  const most = run?.turns ?? 0;
  const ofFact = focused === undefined ? undefined : turnAt(session.facts, focused, run?.runId);
  const turn = Math.min(Math.max(1, chosen ?? ofFact ?? most), Math.max(1, most));
  const runId = run?.runId;
  const key = runId !== undefined && most > 0 ? turnKey(runId, turn) : undefined;
  const { value, error, again } = useAnswer(key, () => client.runs.turn(runId ?? "", turn));
  if (runId === undefined || most === 0)
    return <Nothing title="No prompt yet">Ask something, and read here what the model was sent.</Nothing>;
  const sent = session.facts.find(
    (fact) => fact.type === "message" && fact.runId === runId && fact.turn === turn,
  );
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex h-10 shrink-0 items-center gap-1 px-3">
        <IconButton label="Turn before" disabled={turn <= 1} onClick={() => setChosen(turn - 1)}>
          <ChevronLeft size={15} />
        </IconButton>
        <span className="shrink-0">
          <SelectField
            label="Turn"
            value={String(turn)}
            choices={Array.from({ length: most }, (_, at) => ({
              value: String(at + 1),
              label: `Turn ${at + 1} of ${most}`,
            }))}
            onChange={(value) => setChosen(Number(value))}
          />
        </span>
        <IconButton label="Next turn" disabled={turn >= most} onClick={() => setChosen(turn + 1)}>
          <ChevronRight size={15} />
        </IconButton>
        <RunPicker runs={runs} runId={runId} onChange={choose} />
      </div>
      {error !== undefined && <Failure message={error} onRetry={again} />}
      {error === undefined && value?.turn !== turn && <Loading />}
      {error === undefined && value?.turn === turn && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        <section aria-label="Prompt" tabIndex={0} className="min-h-0 flex-1 overflow-y-auto px-4 pb-4">
          <Sent sent={value} tokens={sent?.type === "message" ? sent.usage.inputTokens : undefined} />
        </section>
      )}
    </div>
  );
}

function turnAt(facts: readonly Fact[], seq: number, runId: string | undefined): number | undefined {
  const fact = facts[seq - 1];
  return fact?.runId === runId && fact?.turn ? fact.turn : undefined;
}

type SentProps = { readonly sent: SentTurn; readonly tokens: number | undefined };

function Sent({ sent, tokens }: SentProps): ReactNode {
  const { instructions, notes, tools, toolChoice, history, instructionsAreRebuilt, toolsAreRebuilt } = sent;
  const isRebuilt = instructionsAreRebuilt || toolsAreRebuilt;
  const what = [instructionsAreRebuilt && "instructions", toolsAreRebuilt && "tools"]
    .filter(Boolean)
    .join(" and ");
  return (
    <div className="grid gap-4">
      <p className="text-xs text-quiet">
        {steadyText(sent.agent)} asked {steadyText(sent.model)}
        {tokens !== undefined && `, ${longNumber(tokens)} tokens in all`}
      </p>
      {isRebuilt && (
        <p className="rounded-md bg-warn-soft px-3 py-2 text-xs text-warn">
          The {what} are made anew each time. These are the ones of now, which may differ from what was sent.
        </p>
      )}
      <Part title="Instructions" size={tokensIn(instructions)}>
        <Words text={instructions} />
        {notes.map((note) => (
          <div key={note} className="mt-2 rounded-md border border-accent/40 bg-accent-soft px-3 py-2">
            <p className="text-xs font-medium text-accent">Added for this turn alone</p>
            <Words text={note} />
          </div>
        ))}
      </Part>
      <Part
        title={
          tools.length === 0
            ? "No tools"
            : `${tools.length} tools, ${toolChoice === "none" ? "not to be called" : toolChoice === "required" ? "one must be called" : "offered"}`
        }
        size={tokensIn(JSON.stringify(tools))}
      >
        <ul className="grid gap-1">
          {tools.map((tool) => (
            <ToolLine key={tool.name} tool={tool} />
          ))}
        </ul>
      </Part>
      <Part title={`History, ${history.length} entries`} size={tokensIn(JSON.stringify(history))}>
        <EntryList entries={history} />
      </Part>
    </div>
  );
}

/** By an estimate: what a provider counts is known of the whole alone. */
const tokensIn = (text: string) => Math.ceil(text.length / 4);

type PartProps = { readonly title: string; readonly size: number; readonly children: ReactNode };

function Part({ title, size, children }: PartProps): ReactNode {
  return (
    <section aria-label={title}>
      <h3 className="mb-1.5 flex items-baseline justify-between gap-2 text-[0.8125rem] font-medium">
        {title}
        <span className="text-xs font-normal text-faint tabular-nums">about {longNumber(size)} tokens</span>
      </h3>
      {children}
    </section>
  );
}

function Words({ text }: { readonly text: string }): ReactNode {
  if (text.trim() === "") return <p className="text-xs text-faint">None</p>;
  return (
    <p dir="auto" className="whitespace-pre-wrap text-[0.8125rem] [overflow-wrap:anywhere]">
      {visibleText(text)}
    </p>
  );
}

function ToolLine({ tool }: { readonly tool: ToolSpec }): ReactNode {
  return (
    <li>
      <details className="rounded-md border px-3 py-1.5">
        <summary className="cursor-pointer text-[0.8125rem]">
          <span className="font-medium">{steadyText(tool.name)}</span>{" "}
          <span className="text-xs text-quiet">{steadyText(tool.description.split("\n")[0] ?? "")}</span>
        </summary>
        <p className="my-1.5 whitespace-pre-wrap text-xs text-quiet [overflow-wrap:anywhere]">
          {visibleText(tool.description)}
        </p>
        <RawJson label={`the input of ${tool.name}`} value={tool.input} />
      </details>
    </li>
  );
}
