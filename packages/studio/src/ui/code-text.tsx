import type { ReactNode } from "react";
import { escapeBidi, escapeInvisible } from "./escape-text.ts";

/** A line of text in which `code` between backticks looks like code. Nothing else in it is Markdown. */
export function CodeText({ text }: { readonly text: string }): ReactNode {
  return text.split(/`([^`\n]+)`/).map((part, index) =>
    index % 2 === 0 ? (
      escapeBidi(part)
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by position
      <code key={index} className="rounded bg-sunken px-1 py-px font-mono text-[0.875em]">
        {escapeInvisible(part)}
      </code>
    ),
  );
}
