import type { Fact } from "capstan";
import { useCallback, useEffect, useRef, useState } from "react";

/** How fast time goes by. */
export const speeds = [1, 2, 4, 8, 16] as const;
export type Speed = (typeof speeds)[number];

export type Playback = {
  /** How many facts have happened. */
  readonly count: number;
  readonly isPlaying: boolean;
  readonly speed: Speed;
  readonly setSpeed: (speed: Speed) => void;
  /** Shows another moment, and stops. */
  readonly goTo: (count: number) => void;
  readonly toggle: () => void;
};

/** Nobody wants to look at nothing for longer; and what comes at once is to be seen too. */
const longestMs = 1500;
const shortestMs = 30;

/** Goes through facts as time did, with long waits cut short. */
export function usePlayback(facts: readonly Fact[], total: number): Playback {
  const [chosen, setCount] = useState<number>();
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<Speed>(1);
  const count = Math.min(chosen ?? total, total);
  const isOver = count >= total;
  const latest = useRef(facts);
  latest.current = facts;
  useEffect(() => {
    if (!isPlaying || isOver) return;
    const [from, to] = [latest.current[count - 1], latest.current[count]];
    const gap = from && to ? to.at - from.at : 0;
    const wait = Math.max(shortestMs, Math.min(longestMs, gap)) / speed;
    const timer = setTimeout(() => setCount(count + 1), wait);
    return () => clearTimeout(timer);
  }, [isPlaying, isOver, count, speed]);
  const goTo = useCallback(
    (next: number) => {
      setPlaying(false);
      setCount(Math.max(0, Math.min(total, next)));
    },
    [total],
  );
  return {
    count,
    isPlaying: isPlaying && !isOver,
    speed,
    setSpeed,
    goTo,
    toggle() {
      // At the end it begins anew.
      if (isOver) setCount(0);
      setPlaying(isOver || !isPlaying);
    },
  };
}
