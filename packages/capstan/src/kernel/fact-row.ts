import type { Fact, FactBody } from "./event.ts";
import type { RunState, State } from "./state.ts";

type FactType = FactBody["type"];
export type FactOf<Type extends FactType> = Extract<Fact, { readonly type: Type }>;

/** What the id of a fact is made of, besides its content. */
export type IdContext = {
  readonly runId: string;
  /** The run's id and, in a retried run, the number of retries: its second end is another fact than its first. */
  readonly prefix: string;
  /** Distinguishes facts that may occur several times. */
  readonly idSuffix: string;
};

/** One type of fact: how its id is derived, and how it changes its run. Properties, so that parameters are checked strictly. */
export type FactRow<Type extends FactType> = {
  /**
   * Derives the id from the content, never from randomness or time, so that a step repeated after a crash records nothing
   * twice: one start per turn, one result per call, one end per run.
   */
  readonly id: (body: Extract<FactBody, { readonly type: Type }>, context: IdContext) => string;
  /** Deterministic, without I/O, at a cost that does not grow with the history. */
  readonly fold: (state: State, run: RunState, fact: FactOf<Type>) => void;
};

/** The rows of a folder: a type of fact without its id or its fold does not compile. */
export type FactRows<Type extends FactType> = { readonly [T in Type]: FactRow<T> };
