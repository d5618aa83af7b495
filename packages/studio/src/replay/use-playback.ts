import type { Fact } from "capstan";
import { useCallback, useEffect, useRef, useState } from "react";

/** Playback speeds. */
export const speeds = [1, 2, 4, 8, 16] as const;
export type Speed = (typeof speeds)[number];

export type Playback = {
  /** Number of facts shown. */
  readonly count: number;
  readonly isPlaying: boolean;
  readonly speed: Speed;
  readonly setSpeed: (speed: Speed) => void;
  /** Jumps to a moment and pauses. */
  readonly goTo: (count: number) => void;
  readonly toggle: () => void;
};

/** Bounds for the pause between two facts. */
const maxGapMs = 1500;
const minGapMs = 30;

/** Plays facts at their original pace, with long waits shortened. */
export function usePlayback(facts: readonly Fact[], total: number): Playback {
  const [chosen, setCount] = useState<number>();
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<Speed>(1);
  const count = Math.min(chosen ?? total, total);
  const isAtEnd = count >= total;
  const latest = useRef(facts);
  latest.current = facts;
  useEffect(() => {
    if (!isPlaying || isAtEnd) return;
    const [from, to] = [latest.current[count - 1], latest.current[count]];
    const gap = from && to ? to.at - from.at : 0;
    const wait = Math.max(minGapMs, Math.min(maxGapMs, gap)) / speed;
    const timer = setTimeout(() => setCount(count + 1), wait);
    return () => clearTimeout(timer);
  }, [isPlaying, isAtEnd, count, speed]);
  const goTo = useCallback(
    (next: number) => {
      setPlaying(false);
      setCount(Math.max(0, Math.min(total, next)));
    },
    [total],
  );
  return {
    count,
    isPlaying: isPlaying && !isAtEnd,
    speed,
    setSpeed,
    goTo,
    toggle() {
      // Restarts from the beginning at the end.
      if (isAtEnd) setCount(0);
      setPlaying(isAtEnd || !isPlaying);
    },
  };
}
