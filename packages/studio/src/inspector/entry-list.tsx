import type { AssistantPart, Entry } from "capstan";
import type { ReactNode } from "react";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { formatJsonText, JsonText } from "../ui/json-text.tsx";
import { flattenContent } from "./format-facts.ts";

/** A model's history in readable form. */
export function EntryList({ entries }: { readonly entries: readonly Entry[] }): ReactNode {
  return (
    <ol className="grid gap-3">
      {entries.map((entry, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries have a fixed order
        <li key={index} className="border-l-2 pl-3">
          <EntryBody entry={entry} />
        </li>
      ))}
    </ol>
  );
}

function EntryBody({ entry }: { readonly entry: Entry }): ReactNode {
  switch (entry.type) {
    case "user":
      return <LabeledText by="User" text={flattenContent(entry.content)} />;
    case "summary":
      return <LabeledText by="Summary of earlier messages" text={entry.text} />;
    case "result":
      return (
        <div>
          <Author
            name={`Result of ${entry.name}`}
            detail={entry.status === "ok" ? entry.callId : entry.status}
          />
          <Text text={flattenContent(entry.content)} isCode />
        </div>
      );
    case "assistant":
      return (
        <div className="grid gap-1.5">
          <Author name="Assistant" />
          {entry.parts.map((part, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts have a fixed order
            <PartBody key={index} part={part} />
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
          <Author name={`Call to ${part.name}`} detail={part.id} />
          <Text text={part.raw ?? formatJsonText(part.input)} isCode />
        </div>
      );
    case "media":
      return <Text text={`[${part.mediaType}] ${part.handle ?? ""}`} />;
    case "opaque":
      return <JsonText label="Provider data" text={formatJsonText(part.data)} />;
  }
}

function LabeledText({ by, text }: { readonly by: string; readonly text: string }): ReactNode {
  return (
    <div>
      <Author name={by} />
      <Text text={text} />
    </div>
  );
}

function Author({ name, detail }: { readonly name: string; readonly detail?: string }): ReactNode {
  return (
    <p className="flex gap-2 text-xs">
      <span className="min-w-0 truncate font-medium">{escapeBidi(name)}</span>
      {detail !== undefined && <span className="truncate text-faint">{escapeBidi(detail)}</span>}
    </p>
  );
}

const maxTextLength = 20_000;

function Text({ text, isCode = false }: { readonly text: string; readonly isCode?: boolean }): ReactNode {
  const escaped = escapeInvisible(text.length > maxTextLength ? `${text.slice(0, maxTextLength)} …` : text);
  if (escaped.trim() === "") return <p className="text-xs text-faint">(empty)</p>;
  return (
    <p
      dir="auto"
      className={`whitespace-pre-wrap [overflow-wrap:anywhere] ${isCode ? "font-mono text-xs" : "text-small"}`}
    >
      {escaped}
    </p>
  );
}
