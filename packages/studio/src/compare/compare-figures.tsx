import type { Difference } from "capstan/client";
import type { ReactNode } from "react";
import { costText, longNumber } from "../inspector/fact-text.ts";
import { steadyText } from "../markdown/visible-text.ts";
import { classNames } from "../ui/class-names.ts";
import { spanOf } from "../ui/format-duration.ts";

type CompareFiguresProps = {
  readonly difference: Difference;
  readonly turns: { readonly left: number; readonly right: number };
};

/** What two runs took, and how that differs. */
export function CompareFigures({ difference, turns }: CompareFiguresProps): ReactNode {
  const { status, models, inputTokens, outputTokens, cost, ms } = difference;
  return (
    <table className="w-full text-left text-[0.8125rem] tabular-nums max-sm:text-xs">
      <thead className="text-xs text-faint">
        <tr className="[&>th]:border-b [&>th]:py-1.5 [&>th]:pr-3 [&>th]:font-medium">
          <th scope="col">
            <span className="sr-only">Figure</span>
          </th>
          <th scope="col">Left</th>
          <th scope="col">Right</th>
          <th scope="col">Difference</th>
        </tr>
      </thead>
      <tbody className="[&_td]:py-1.5 [&_td]:pr-3 [&_th]:py-1.5 [&_th]:pr-3 [&_tr]:border-b">
        <Words name="Status" left={status.left} right={status.right} />
        <Words name="Models" left={models.left.join(", ")} right={models.right.join(", ")} />
        <Figure name="Turns" pair={turns} text={longNumber} />
        <Figure name="Tokens in" pair={inputTokens} text={longNumber} />
        <Figure name="Tokens out" pair={outputTokens} text={longNumber} />
        <Figure name="Cost" pair={cost} text={costText} />
        <Figure name="Time" pair={ms} text={spanOf} />
      </tbody>
    </table>
  );
}

type WordsProps = { readonly name: string; readonly left: string; readonly right: string };

function Words({ name, left, right }: WordsProps): ReactNode {
  const isSame = left === right;
  return (
    <tr>
      <th scope="row" className="font-normal text-quiet">
        {name}
      </th>
      <td className="[overflow-wrap:anywhere]">{steadyText(left) || "–"}</td>
      <td className="[overflow-wrap:anywhere]">{steadyText(right) || "–"}</td>
      <td className={isSame ? "text-faint" : "text-warn"}>{isSame ? "same" : "different"}</td>
    </tr>
  );
}

type FigureProps = {
  readonly name: string;
  readonly pair: { readonly left: number; readonly right: number };
  readonly text: (value: number) => string;
};

/** More is not better here: of all of these, less is. */
function Figure({ name, pair: { left, right }, text }: FigureProps): ReactNode {
  const delta = right - left;
  const share =
    left > 0 && delta !== 0
      ? ` (${delta > 0 ? "+" : "−"}${Math.round((100 * Math.abs(delta)) / left)} %)`
      : "";
  return (
    <tr>
      <th scope="row" className="font-normal text-quiet">
        {name}
      </th>
      <td>{text(left)}</td>
      <td>{text(right)}</td>
      <td
        className={classNames(
          delta === 0 && "text-faint",
          delta > 0 && "text-warn",
          delta < 0 && "text-good",
        )}
      >
        {delta === 0 ? "same" : `${delta > 0 ? "+" : "−"}${text(Math.abs(delta))}${share}`}
      </td>
    </tr>
  );
}
