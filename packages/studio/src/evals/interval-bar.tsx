import type { Interval } from "capstan/evals";
import type { ReactNode } from "react";

type IntervalBarProps = {
  readonly value: number;
  readonly interval: Interval;
  /** The ends of the scale. */
  readonly from: number;
  readonly to: number;
};

/** A value with its interval on a scale. The numbers next to it are the same, so it is hidden from screen readers. */
export function IntervalBar({ value, interval: [low, high], from, to }: IntervalBarProps): ReactNode {
  const place = (number: number) => `${((number - from) / (to - from)) * 100}%`;
  return (
    <span aria-hidden="true" className="relative block h-4 w-full min-w-24">
      <span className="absolute inset-x-0 top-1.5 h-1 rounded-full bg-line" />
      {from < 0 && <span className="absolute top-0 h-4 w-px bg-faint" style={{ left: place(0) }} />}
      <span
        className="absolute top-1.5 h-1 rounded-full bg-accent/45"
        style={{ left: place(low), right: `calc(100% - ${place(high)})` }}
      />
      <span
        className="absolute top-1 size-2 -translate-x-1/2 rounded-full bg-accent"
        style={{ left: place(value) }}
      />
    </span>
  );
}
