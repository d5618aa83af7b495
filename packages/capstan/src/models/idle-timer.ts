import { AgentError } from "../errors.ts";

/** How long a model is waited for. */
export type Timeouts = {
  /** Until the first byte of the answer. */
  readonly firstByteMs: number;
  /** Between two reads. */
  readonly idleMs: number;
};

const usual: Timeouts = { firstByteMs: 120_000, idleMs: 60_000 };

export type Waiting = {
  /** Aborted by the caller's signal and by silence. */
  readonly signal: AbortSignal;
  /** Something was heard: the wait begins anew. */
  heard(): void;
  /** Why it was given up, when silence was the reason. */
  failure(): AgentError | undefined;
  /** Nobody waits any more: gives up what is still under way. */
  abandon(): void;
  end(): void;
};

/** Real time, not the run's clock: it is about a connection, and ends a wait that nobody else can see. */
export function patient(signal: AbortSignal, wanted: Partial<Timeouts> = {}): Waiting {
  const { firstByteMs, idleMs } = { ...usual, ...wanted };
  const controller = new AbortController();
  let failure: AgentError | undefined;
  let heardAt: number | undefined;
  let timer = setTimeout(check, firstByteMs);

  // The timer is not set anew with every read, which would cost more than the read: when it fires, it looks how long ago
  // that was.
  function check(): void {
    const rest = heardAt === undefined ? 0 : heardAt + idleMs - performance.now();
    if (rest > 0) timer = setTimeout(check, rest);
    else giveUp();
  }
  function giveUp(): void {
    const [ms, when] = heardAt === undefined ? [firstByteMs, "after the request"] : [idleMs, "in mid-answer"];
    failure = new AgentError("model_timeout", `The provider sent nothing for ${ms} ms ${when}.`);
    controller.abort(failure);
  }
  const forward = () => controller.abort(signal.reason);
  if (signal.aborted) forward();
  else signal.addEventListener("abort", forward, { once: true });
  return {
    signal: controller.signal,
    heard() {
      if (heardAt === undefined) {
        clearTimeout(timer);
        timer = setTimeout(check, idleMs);
      }
      heardAt = performance.now();
    },
    failure: () => failure,
    abandon: () => controller.abort(),
    end() {
      clearTimeout(timer);
      signal.removeEventListener("abort", forward);
    },
  };
}
