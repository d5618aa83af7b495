import type { ReactNode } from "react";
import { CopyButton } from "../ui/copy-button.tsx";
import { escapeInvisible } from "../ui/escape-text.ts";

type RawJsonProps = {
  readonly value: unknown;
  readonly label: string;
  /** Fills the height of its container. */
  readonly isTall?: boolean;
};

const maxLength = 200_000;

/** A value as JSON with invisible characters escaped. */
export function RawJson({ value, label, isTall = false }: RawJsonProps): ReactNode {
  const text = JSON.stringify(value, undefined, 2) ?? "";
  const isCut = text.length > maxLength;
  return (
    <div className="relative">
      <div className="absolute right-2 top-1 rounded-md bg-sunken">
        <CopyButton label={`Copy ${label}`} text={() => text} />
      </div>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
        tabIndex={0}
        className={`overflow-auto whitespace-pre-wrap rounded-md bg-sunken px-3 py-2 pr-10 font-mono text-xs leading-relaxed [overflow-wrap:anywhere] ${isTall ? "" : "max-h-80"}`}
      >
        {escapeInvisible(isCut ? text.slice(0, maxLength) : text)}
      </pre>
      {isCut && <p className="mt-1 text-xs text-faint">Truncated. Copy to get the full text.</p>}
    </div>
  );
}
