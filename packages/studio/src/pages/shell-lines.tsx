import type { ReactNode } from "react";
import { CopyButton } from "../markdown/copy-button.tsx";
import { visibleText } from "../markdown/visible-text.ts";

/** Lines for a terminal, to be copied. */
export function ShellLines({ lines }: { readonly lines: readonly string[] }): ReactNode {
  const text = lines.join("\n");
  return (
    <div className="flex items-start gap-2 rounded-md bg-sunken py-1.5 pl-3 pr-1.5 text-left">
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        tabIndex={0}
        className="min-w-0 flex-1 overflow-x-auto py-1 font-mono text-xs leading-relaxed text-ink"
      >
        {visibleText(text)}
      </pre>
      <CopyButton label="Copy these lines" text={() => text} />
    </div>
  );
}
