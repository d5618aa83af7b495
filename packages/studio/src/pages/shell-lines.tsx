import type { ReactNode } from "react";
import { CopyButton } from "../ui/copy-button.tsx";
import { escapeInvisible } from "../ui/escape-text.ts";

/** Shell commands with a copy button. */
export function ShellLines({ lines }: { readonly lines: readonly string[] }): ReactNode {
  const text = lines.join("\n");
  return (
    <div className="flex items-start gap-2 rounded-md bg-sunken py-1.5 pl-3 pr-1.5 text-left">
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
        tabIndex={0}
        className="min-w-0 flex-1 overflow-x-auto py-1 font-mono text-xs leading-relaxed text-ink"
      >
        {escapeInvisible(text)}
      </pre>
      <CopyButton label="Copy these lines" text={() => text} />
    </div>
  );
}
