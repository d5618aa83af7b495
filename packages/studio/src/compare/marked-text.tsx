import type { ReactNode } from "react";
import { visibleText } from "../markdown/visible-text.ts";
import { classNames } from "../ui/class-names.ts";
import type { MarkedLine } from "./run-sides.ts";

type MarkedTextProps = {
  readonly lines: readonly MarkedLine[];
  readonly side: "left" | "right";
  readonly isCode?: boolean;
};

const most = 400;

/** A text with what differs marked: by colour, by a sign, and for those who listen by its element. */
export function MarkedText({ lines, side, isCode = false }: MarkedTextProps): ReactNode {
  if (lines.length === 0 || lines.every(({ line }) => line === ""))
    return <p className="text-xs text-faint">Nothing</p>;
  const Changed = side === "left" ? "del" : "ins";
  return (
    <div
      dir="auto"
      className={classNames(
        "whitespace-pre-wrap [overflow-wrap:anywhere]",
        isCode ? "font-mono text-xs leading-relaxed" : "text-[0.8125rem]",
      )}
    >
      {lines.slice(0, most).map(({ line, isChanged }, at) => {
        const words = visibleText(line) || " ";
        return isChanged ? (
          <Changed
            // biome-ignore lint/suspicious/noArrayIndexKey: lines keep their place
            key={at}
            className={classNames(
              "-mx-1.5 block rounded-sm border-l-2 px-1.5 no-underline",
              side === "left" ? "border-bad bg-bad-soft" : "border-good bg-accent-soft",
            )}
          >
            {words}
          </Changed>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines keep their place
          <span key={at} className="block">
            {words}
          </span>
        );
      })}
      {lines.length > most && <span className="text-faint">{lines.length - most} more lines</span>}
    </div>
  );
}
