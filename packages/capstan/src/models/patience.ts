import { AgentError } from "../errors.ts";

/** How long a model is waited for. */
export type Patience = {
  /** Until the first byte of the answer. */
  readonly firstByteMs: number;
  /** Between two reads. */
  readonly idleMs: number;
};

const usual: Patience = { firstByteMs: 120_000, idleMs: 60_000 };

export type Waiting = {
  /** Aborted by the caller's signal and by silence. */
  readonly signal: AbortSignal;
  /** Something was heard: the wait begins anew. */
  heard(): void;
  /** Why it was given up, when silence was the reason. */
  failure(): AgentError | undefined;
  end(): void;
};

/** Real time, not the run's clock: it is about a connection, and ends a wait that nobody else can see. */
export function patient(signal: AbortSignal, wanted: Partial<Patience> = {}): Waiting {
  const { firstByteMs, idleMs } = { ...usual, ...wanted };
  const controller = new AbortController();
  let failure: AgentError | undefined;
  const giveUp = (ms: number, what: string) => () => {
    failure = new AgentError("model_timeout", `The provider sent nothing for ${ms} ms ${what}.`);
    controller.abort(failure);
  };
  const forward = () => controller.abort(signal.reason);
  if (signal.aborted) forward();
  else signal.addEventListener("abort", forward, { once: true });
  let timer = setTimeout(giveUp(firstByteMs, "after the request"), firstByteMs);
  return {
    signal: controller.signal,
    heard() {
      clearTimeout(timer);
      timer = setTimeout(giveUp(idleMs, "in mid-answer"), idleMs);
    },
    failure: () => failure,
    end() {
      clearTimeout(timer);
      signal.removeEventListener("abort", forward);
      controller.abort();
    },
  };
}
