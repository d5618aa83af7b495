import type { ToolChoice, ToolSpec, Usage } from "capstan";
import type { SentTurn } from "capstan/client";
import { formatCount } from "capstan/sessions";
import type { ReactNode } from "react";
import { Tag } from "../pages/page.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { EntryList } from "./entry-list.tsx";
import { formatFullNumber } from "./format-facts.ts";
import { formatSettings } from "./format-settings.ts";
import { RawJson } from "./raw-json.tsx";

type SentPromptProps = {
  readonly sent: SentTurn;
  readonly usage: Usage | undefined;
  readonly warnings: readonly string[];
  /** False for users who are not admins: the server does not send them the instructions. */
  readonly hasInstructions: boolean;
};

/** The request of a turn, and why its start was not cached. */
export function SentPrompt({ sent, usage, warnings, hasInstructions }: SentPromptProps): ReactNode {
  const { instructions, notes, tools, toolChoice, history, instructionsAreRebuilt, toolsAreRebuilt } = sent;
  const { discovered, deferred } = sent;
  const isRebuilt = instructionsAreRebuilt || toolsAreRebuilt;
  const rebuiltParts = [instructionsAreRebuilt && "instructions", toolsAreRebuilt && "tools"]
    .filter(Boolean)
    .join(" and ");
  return (
    <div className="grid gap-4">
      <p className="text-xs text-quiet">
        {escapeBidi(sent.agent)} called {escapeBidi(sent.model)}
        {usage && `, ${formatCount(usage.inputTokens, "token")} in total`}
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
        {hasInstructions ? (
          <PlainText text={instructions} />
        ) : (
          <p className="text-xs text-faint">Only admins see the instructions.</p>
        )}
        {notes.map((note) => (
          <div key={note} className="mt-2 rounded-md border border-accent/40 bg-accent-soft px-3 py-2">
            <p className="text-xs font-medium text-accent">Added for this turn</p>
            <PlainText text={note} />
          </div>
        ))}
      </PromptSection>
      <PromptSection
        title={
          tools.length === 0
            ? "No tools"
            : `${formatCount(tools.length, "tool")}, ${formatToolChoice(toolChoice)}`
        }
        size={estimateTokens(JSON.stringify(tools))}
      >
        <ul className="grid gap-1">
          {tools.map((tool) => (
            <ToolLine key={tool.name} tool={tool} isFound={discovered.includes(tool.name)} />
          ))}
        </ul>
        {deferred > 0 && (
          <p className="mt-1.5 text-xs text-quiet">
            The model can search for {formatCount(deferred, "more tool")}.
          </p>
        )}
      </PromptSection>
      <PromptSection
        title={`History, ${formatCount(history.length, "entry")}`}
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
      <h3 className="mb-1.5 flex items-baseline justify-between gap-2 text-small font-medium">
        {title}
        <span className="text-xs font-normal text-faint tabular-nums">
          about {formatCount(size, "token")}
        </span>
      </h3>
      {children}
    </section>
  );
}

function PlainText({ text }: { readonly text: string }): ReactNode {
  if (text.trim() === "") return <p className="text-xs text-faint">None</p>;
  return (
    <p dir="auto" className="whitespace-pre-wrap text-small [overflow-wrap:anywhere]">
      {escapeInvisible(text)}
    </p>
  );
}

type ToolLineProps = { readonly tool: ToolSpec; readonly isFound: boolean };

function ToolLine({ tool, isFound }: ToolLineProps): ReactNode {
  return (
    <li>
      <details className="rounded-md border px-3 py-1.5">
        <summary className="cursor-pointer text-small">
          <span className="font-medium">{escapeBidi(tool.name)}</span>{" "}
          {isFound && <Tag tone="accent">found by search</Tag>}{" "}
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
