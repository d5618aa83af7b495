import { forgetFrames } from "./event-frame.ts";

/** What an open stream does now and then, and when the server is about to leave. */
export type Pulse = {
  beat(now: number): void;
  leave(): void;
};

/** The open streams of a server. One timer for all of them, and none without any. */
export interface Pulses {
  add(pulse: Pulse): void;
  delete(pulse: Pulse): void;
}

const beatMs = 15_000;
const servers = new WeakMap<AbortSignal, Pulses>();

/** Of the server that leaves with this signal. */
export function pulseOf(leaving: AbortSignal): Pulses {
  const known = servers.get(leaving) ?? pulses(leaving);
  servers.set(leaving, known);
  return known;
}

function pulses(leaving: AbortSignal): Pulses {
  const open = new Set<Pulse>();
  let timer: NodeJS.Timeout | undefined;
  leaving.addEventListener("abort", () => {
    for (const pulse of [...open]) pulse.leave();
  });
  return {
    add(pulse) {
      open.add(pulse);
      timer ??= setInterval(() => {
        const now = Date.now();
        forgetFrames();
        for (const each of [...open]) each.beat(now);
      }, beatMs).unref();
      if (leaving.aborted) pulse.leave();
    },
    delete(pulse) {
      open.delete(pulse);
      if (open.size > 0) return;
      forgetFrames();
      clearInterval(timer);
      timer = undefined;
    },
  };
}
