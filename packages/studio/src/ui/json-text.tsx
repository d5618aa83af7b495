import type { Part } from "capstan";
import type { ReactNode } from "react";
import { CopyButton } from "./copy-button.tsx";
import { escapeInvisible } from "./escape-text.ts";

/** Formats a value: text as is, everything else as indented JSON. */
export function formatJsonText(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value, undefined, 2) ?? "";
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === "object" && parsed !== null ? JSON.stringify(parsed, undefined, 2) : value;
  } catch {
    return value;
  }
}

/** Formats the content of a result as text. */
export function formatResultContent(content: string | readonly Part[]): string {
  if (typeof content === "string") return formatJsonText(content);
  return content
    .map((part) => (part.type === "text" ? part.text : `[${part.type}: ${part.mediaType}]`))
    .join("\n");
}

const maxTextLength = 100_000;

/** A text in a scrollable box, with invisible characters escaped. */
export function JsonText({ label, text }: { readonly label: string; readonly text: string }): ReactNode {
  const isCut = text.length > maxTextLength;
  return (
    <div>
      <div className="flex h-7 items-center justify-between text-xs text-faint">
        {label}
        <CopyButton label={`Copy ${label.toLowerCase()}`} text={() => text} />
      </div>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
        tabIndex={0}
        className="max-h-80 overflow-auto whitespace-pre-wrap rounded-md bg-sunken px-3 py-2 font-mono text-small leading-normal [overflow-wrap:anywhere]"
      >
        {escapeInvisible(isCut ? text.slice(0, maxTextLength) : text)}
      </pre>
      {isCut && <p className="mt-1 text-xs text-faint">Truncated. Copy to get the full text.</p>}
    </div>
  );
}
