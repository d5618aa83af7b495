import type { Part } from "capstan";
import type { ReactNode } from "react";
import { visibleText } from "../markdown/visible-text.ts";
import { CopyText } from "./copy-text.tsx";

/** A value as people read it: text as it is, anything else as JSON in lines. */
export function prettyText(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value, undefined, 2) ?? "";
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === "object" && parsed !== null ? JSON.stringify(parsed, undefined, 2) : value;
  } catch {
    return value;
  }
}

/** Content of a result as text. */
export function contentText(content: string | readonly Part[]): string {
  if (typeof content === "string") return prettyText(content);
  return content
    .map((part) => (part.type === "text" ? part.text : `[${part.type}: ${part.mediaType}]`))
    .join("\n");
}

const longest = 100_000;

/** A text in a box, with everything in it visible. */
export function JsonText({ label, text }: { readonly label: string; readonly text: string }): ReactNode {
  const isCut = text.length > longest;
  return (
    <div>
      <div className="flex h-7 items-center justify-between text-xs text-faint">
        {label}
        <CopyText label={`Copy ${label.toLowerCase()}`} text={() => text} />
      </div>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        tabIndex={0}
        className="max-h-80 overflow-auto whitespace-pre-wrap rounded-md bg-sunken px-3 py-2 font-mono text-[0.8125rem] leading-normal [overflow-wrap:anywhere]"
      >
        {visibleText(isCut ? text.slice(0, longest) : text)}
      </pre>
      {isCut && (
        <p className="mt-1 text-xs text-faint">The rest is left out here; copying takes all of it.</p>
      )}
    </div>
  );
}
