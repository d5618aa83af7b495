import type { ReactNode } from "react";
import { classNames } from "../ui/class-names.ts";
import { escapeInvisible } from "../ui/escape-text.ts";
import type { MarkedLine } from "./run-sides.ts";

type MarkedTextProps = {
  readonly lines: readonly MarkedLine[];
  readonly side: "left" | "right";
  readonly isCode?: boolean;
};

const maxLines = 400;

/** A text with changed lines marked by color and by `ins` or `del`. */
export function MarkedText({ lines, side, isCode = false }: MarkedTextProps): ReactNode {
  if (lines.length === 0 || lines.every(({ line }) => line === ""))
    return <p className="text-xs text-faint">Nothing</p>;
  const Changed = side === "left" ? "del" : "ins";
  return (
    <div
      dir="auto"
      className={classNames(
        "whitespace-pre-wrap [overflow-wrap:anywhere]",
        isCode ? "font-mono text-xs leading-relaxed" : "text-small",
      )}
    >
      {lines.slice(0, maxLines).map(({ line, isChanged }, index) => {
        const text = escapeInvisible(line) || " ";
        return isChanged ? (
          <Changed
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have a fixed order
            key={index}
            className={classNames(
              "-mx-1.5 block rounded-sm border-l-2 px-1.5 no-underline",
              side === "left" ? "border-bad bg-bad-soft" : "border-good bg-accent-soft",
            )}
          >
            {text}
          </Changed>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have a fixed order
          <span key={index} className="block">
            {text}
          </span>
        );
      })}
      {lines.length > maxLines && <span className="text-faint">{lines.length - maxLines} more lines</span>}
    </div>
  );
}
