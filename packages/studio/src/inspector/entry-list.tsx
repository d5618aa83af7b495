import type { AssistantPart, Entry } from "capstan";
import type { ReactNode } from "react";
import { steadyText, visibleText } from "../markdown/visible-text.ts";
import { JsonText, prettyText } from "../ui/json-text.tsx";
import { contentLine } from "./fact-text.ts";

/** A history as a model is given it, to be read. */
export function EntryList({ entries }: { readonly entries: readonly Entry[] }): ReactNode {
  return (
    <ol className="grid gap-3">
      {entries.map((entry, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: what was said keeps its place
        <li key={at} className="border-l-2 pl-3">
          <EntryBody entry={entry} />
        </li>
      ))}
    </ol>
  );
}

function EntryBody({ entry }: { readonly entry: Entry }): ReactNode {
  switch (entry.type) {
    case "user":
      return <Said by="User" text={contentLine(entry.content)} />;
    case "summary":
      return <Said by="Summary of what came before" text={entry.text} />;
    case "result":
      return (
        <div>
          <By name={`Result of ${entry.name}`} about={entry.status === "ok" ? entry.callId : entry.status} />
          <Text text={contentLine(entry.content)} isCode />
        </div>
      );
    case "assistant":
      return (
        <div className="grid gap-1.5">
          <By name="Assistant" />
          {entry.parts.map((part, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts keep their place
            <PartBody key={at} part={part} />
          ))}
        </div>
      );
  }
}

function PartBody({ part }: { readonly part: AssistantPart }): ReactNode {
  switch (part.type) {
    case "text":
      return <Text text={part.text} />;
    case "reasoning":
      return (
        <details>
          <summary className="cursor-pointer text-xs text-quiet">Reasoning</summary>
          <Text text={part.text} />
        </details>
      );
    case "call":
      return (
        <div>
          <By name={`Call of ${part.name}`} about={part.id} />
          <Text text={part.raw ?? prettyText(part.input)} isCode />
        </div>
      );
    case "opaque":
      return <JsonText label="Of the provider alone" text={prettyText(part.data)} />;
  }
}

function Said({ by, text }: { readonly by: string; readonly text: string }): ReactNode {
  return (
    <div>
      <By name={by} />
      <Text text={text} />
    </div>
  );
}

function By({ name, about }: { readonly name: string; readonly about?: string }): ReactNode {
  return (
    <p className="flex gap-2 text-xs">
      <span className="min-w-0 truncate font-medium">{steadyText(name)}</span>
      {about !== undefined && <span className="truncate text-faint">{steadyText(about)}</span>}
    </p>
  );
}

const longest = 20_000;

function Text({ text, isCode = false }: { readonly text: string; readonly isCode?: boolean }): ReactNode {
  const shown = visibleText(text.length > longest ? `${text.slice(0, longest)} …` : text);
  if (shown.trim() === "") return <p className="text-xs text-faint">Empty</p>;
  return (
    <p
      dir="auto"
      className={`whitespace-pre-wrap [overflow-wrap:anywhere] ${isCode ? "font-mono text-xs" : "text-[0.8125rem]"}`}
    >
      {shown}
    </p>
  );
}
