import type { Difference } from "capstan/client";
import type { ReactNode } from "react";
import { formatDollars, formatFullNumber } from "../inspector/format-facts.ts";
import { classNames } from "../ui/class-names.ts";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatDuration } from "../ui/format-duration.ts";

type CompareStatsProps = {
  readonly difference: Difference;
  readonly turns: { readonly left: number; readonly right: number };
};

/** Token, cost and time statistics of two runs. */
export function CompareStats({ difference, turns }: CompareStatsProps): ReactNode {
  const { status, models, inputTokens, outputTokens, cost, ms } = difference;
  return (
    <table className="w-full text-left text-small tabular-nums max-sm:text-xs">
      <thead className="text-xs text-faint">
        <tr className="[&>th]:border-b [&>th]:py-1.5 [&>th]:pr-3 [&>th]:font-medium">
          <th scope="col">
            <span className="sr-only">Metric</span>
          </th>
          <th scope="col">Left</th>
          <th scope="col">Right</th>
          <th scope="col">Difference</th>
        </tr>
      </thead>
      <tbody className="[&_td]:py-1.5 [&_td]:pr-3 [&_th]:py-1.5 [&_th]:pr-3 [&_tr]:border-b">
        <TextRow name="Status" left={status.left} right={status.right} />
        <TextRow name="Models" left={models.left.join(", ")} right={models.right.join(", ")} />
        <NumberRow name="Turns" pair={turns} format={formatFullNumber} />
        <NumberRow name="Input tokens" pair={inputTokens} format={formatFullNumber} />
        <NumberRow name="Output tokens" pair={outputTokens} format={formatFullNumber} />
        <NumberRow name="Cost" pair={cost} format={formatDollars} />
        <NumberRow name="Time" pair={ms} format={formatDuration} />
      </tbody>
    </table>
  );
}

type TextRowProps = { readonly name: string; readonly left: string; readonly right: string };

function TextRow({ name, left, right }: TextRowProps): ReactNode {
  const isSame = left === right;
  return (
    <tr>
      <th scope="row" className="font-normal text-quiet">
        {name}
      </th>
      <td className="[overflow-wrap:anywhere]">{escapeBidi(left) || "–"}</td>
      <td className="[overflow-wrap:anywhere]">{escapeBidi(right) || "–"}</td>
      <td className={isSame ? "text-faint" : "text-warn"}>{isSame ? "same" : "different"}</td>
    </tr>
  );
}

type NumberRowProps = {
  readonly name: string;
  readonly pair: { readonly left: number; readonly right: number };
  readonly format: (value: number) => string;
};

/** Lower is better for all of these numbers. */
function NumberRow({ name, pair: { left, right }, format }: NumberRowProps): ReactNode {
  const delta = right - left;
  const percentage =
    left > 0 && delta !== 0
      ? ` (${delta > 0 ? "+" : "−"}${Math.round((100 * Math.abs(delta)) / left)} %)`
      : "";
  return (
    <tr>
      <th scope="row" className="font-normal text-quiet">
        {name}
      </th>
      <td>{format(left)}</td>
      <td>{format(right)}</td>
      <td
        className={classNames(
          delta === 0 && "text-faint",
          delta > 0 && "text-warn",
          delta < 0 && "text-good",
        )}
      >
        {delta === 0 ? "same" : `${delta > 0 ? "+" : "−"}${format(Math.abs(delta))}${percentage}`}
      </td>
    </tr>
  );
}
