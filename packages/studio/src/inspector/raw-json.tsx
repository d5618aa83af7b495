import type { ReactNode } from "react";
import { visibleText } from "../markdown/visible-text.ts";
import { CopyText } from "../ui/copy-text.tsx";

type RawJsonProps = {
  readonly value: unknown;
  readonly label: string;
  /** As high as what is around it. */
  readonly isTall?: boolean;
};

const longest = 200_000;

/** A value as JSON, with everything in it visible, to be copied. */
export function RawJson({ value, label, isTall = false }: RawJsonProps): ReactNode {
  const text = JSON.stringify(value, undefined, 2) ?? "";
  const isCut = text.length > longest;
  return (
    <div className="relative">
      <div className="absolute right-2 top-1 rounded-md bg-sunken">
        <CopyText label={`Copy ${label}`} text={() => text} />
      </div>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        tabIndex={0}
        className={`overflow-auto whitespace-pre-wrap rounded-md bg-sunken px-3 py-2 pr-10 font-mono text-xs leading-relaxed [overflow-wrap:anywhere] ${isTall ? "" : "max-h-80"}`}
      >
        {visibleText(isCut ? text.slice(0, longest) : text)}
      </pre>
      {isCut && (
        <p className="mt-1 text-xs text-faint">The rest is left out here; copying takes all of it.</p>
      )}
    </div>
  );
}
