import type { Difference } from "capstan/client";
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { classNames } from "../ui/class-names.ts";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatJsonText } from "../ui/json-text.tsx";
import { ScrollRegion } from "../ui/scroll-region.tsx";
import { MarkedText } from "./marked-text.tsx";
import { getSideLines, markChangedLines, type SideCall, type SideTurn } from "./run-sides.ts";

type TurnDifference = Difference["turns"][number];
type CallDifference = TurnDifference["calls"][number];
type Side = "left" | "right";
type Sides<Value> = { readonly left: Value; readonly right: Value };

type CompareTurnsProps = {
  readonly difference: Difference;
  readonly turns: Sides<ReadonlyMap<number, SideTurn>>;
};

const sides = ["left", "right"] as const;

/** The turns of two runs, side by side. */
export function CompareTurns({ difference, turns }: CompareTurnsProps): ReactNode {
  const { question } = difference;
  return (
    <div className="grid gap-3">
      {question && (
        <Pair title="Question" type="changed">
          {(side) => <MarkedText lines={getSideLines(question, side)} side={side} />}
        </Pair>
      )}
      {difference.turns.map((turn) => (
        <Pair key={turn.turn} title={`Turn ${turn.turn}`} type={turn.type}>
          {(side) => (
            <TurnSide
              turn={turn}
              side={side}
              own={turns[side].get(turn.turn)}
              other={turns[side === "left" ? "right" : "left"].get(turn.turn)}
            />
          )}
        </Pair>
      ))}
    </div>
  );
}

const typeLabels = {
  same: "same",
  changed: "different",
  left: "left only",
  right: "right only",
} as const;

type PairProps = {
  readonly title: string;
  readonly type: TurnDifference["type"];
  readonly children: (side: Side) => ReactNode;
};

/** Collapsed when both sides are the same. */
function Pair({ title, type, children }: PairProps): ReactNode {
  return (
    <details open={type !== "same"} className="group rounded-lg border bg-raised" data-difference={type}>
      <summary className="flex cursor-pointer items-center gap-2 px-3 py-2 text-small">
        <ChevronRight
          size={14}
          aria-hidden="true"
          className="shrink-0 text-faint transition-transform duration-100 group-open:rotate-90"
        />
        <span className="font-medium">{title}</span>
        <span className={classNames("text-xs", type === "same" ? "text-faint" : "text-warn")}>
          {typeLabels[type]}
        </span>
      </summary>
      <div className="grid grid-cols-2 divide-x border-t max-sm:grid-cols-1 max-sm:divide-x-0 max-sm:divide-y">
        {sides.map((side) => (
          <section
            key={side}
            aria-label={`${title}, ${side}`}
            className="grid min-w-0 content-start gap-2 p-3"
          >
            <p className="text-xs text-faint sm:hidden">{side === "left" ? "Left" : "Right"}</p>
            {children(side)}
          </section>
        ))}
      </div>
    </details>
  );
}

type TurnSideProps = {
  readonly turn: TurnDifference;
  readonly side: Side;
  readonly own: SideTurn | undefined;
  readonly other: SideTurn | undefined;
};

function TurnSide({ turn, side, own, other }: TurnSideProps): ReactNode {
  if (!own)
    return (
      <p className="text-xs text-faint">
        {turn.type === side ? "Not available yet" : "This run does not have this turn"}
      </p>
    );
  const lines = turn.text ? getSideLines(turn.text, side) : markChangedLines(own.text, undefined);
  return (
    <>
      {(own.text !== "" || own.calls.length === 0) && <MarkedText lines={lines} side={side} />}
      {own.calls.map((call, index) => (
        <CallSide
          key={call.id}
          call={call}
          other={other?.calls[index]}
          difference={turn.calls[index]}
          side={side}
        />
      ))}
    </>
  );
}

type CallSideProps = {
  readonly call: SideCall;
  readonly other: SideCall | undefined;
  readonly difference: CallDifference | undefined;
  readonly side: Side;
};

function CallSide({ call, other, difference, side }: CallSideProps): ReactNode {
  const isAlone = difference?.type === side;
  const input = formatJsonText(call.input);
  const otherInput = difference?.input && other ? formatJsonText(other.input) : undefined;
  const result = difference?.result
    ? getSideLines(difference.result, side)
    : markChangedLines(call.result, undefined);
  return (
    <div
      data-call-difference={difference?.type}
      className={classNames("grid gap-1.5 rounded-md border p-2.5", isAlone && "border-warn/50 bg-warn-soft")}
    >
      <p className="flex items-baseline gap-2 text-small">
        <span className={classNames("truncate font-medium", difference?.names && "text-warn")}>
          {escapeBidi(call.name)}
        </span>
        <span className={classNames("text-xs", difference?.status ? "text-warn" : "text-quiet")}>
          {call.status || "no result"}
        </span>
        {isAlone && <span className="text-xs text-warn">only here</span>}
      </p>
      <p className="text-xs text-quiet">Arguments</p>
      <MarkedText lines={markChangedLines(input, otherInput)} side={side} isCode />
      <p className="text-xs text-quiet">Result</p>
      <ScrollRegion role="group" label="Result" className="max-h-60 overflow-y-auto">
        <MarkedText lines={result} side={side} isCode />
      </ScrollRegion>
    </div>
  );
}
