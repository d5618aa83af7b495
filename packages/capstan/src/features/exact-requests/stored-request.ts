import type { Json } from "../../base/json.ts";
import type { SentRequest, StopReason, Usage } from "../../kernel/model.ts";
import type { JoinedHistory } from "./history-joiner.ts";
import type { TextPiece } from "./text-pieces.ts";

/** What a model is called for: the next message, a summary of the history, or a sentence about a turn. */
export type RequestPurpose = "answer" | "summary" | "turn_summary";

/** Media in a request, in base64. Without the `handle` of a blob, they are in a fact of the session. */
export type RequestMedia = { readonly handle?: string; readonly data: string };

/** A request that is about to be sent to a model. */
export type NewRequest = SentRequest & {
  readonly purpose: RequestPurpose;
  readonly model: string;
  readonly media?: readonly RequestMedia[];
  readonly parts?: BodyParts;
};

/** The parts of a body. A history grows at its end, so bodies with the same list of entries need not be compared. */
export type BodyParts = { readonly head: string; readonly history: JoinedHistory; readonly tail: string };

/** A request as the model's client sent it, with secrets masked, and the turn it belongs to. */
export type ExactRequest = SentRequest & {
  /** Position among the requests of the session, from 1. */
  readonly number: number;
  readonly runId: string;
  readonly turn: number;
  readonly agent: string;
  readonly purpose: RequestPurpose;
  readonly at: number;
  readonly model: string;
};

/**
 * A request as it is stored: the body is described by what it shares with an earlier one of the session. Not a fact: no
 * reader of events gets it, and no state depends on it.
 */
export type StoredRequest = Omit<ExactRequest, "body"> & {
  /** Position of the first fact that was stored with it. */
  readonly seq: number;
  /** Number of the request that the copies in `pieces` refer to. Absent if there are none. */
  readonly base?: number;
  /** The lowest number that is needed to rebuild the body: its own if there is no base. */
  readonly first: number;
  /** Characters stored from request `first` to this one: how much is read to rebuild the body. */
  readonly span: number;
  readonly pieces: readonly TextPiece[];
};

/** Selects requests of a session. All conditions must hold. */
export type RequestQuery = {
  /** Numbers, both included. */
  readonly from?: number;
  readonly to?: number;
  /** One turn of a run. */
  readonly turn?: { readonly runId: string; readonly turn: number };
  /** Only the last ones. */
  readonly last?: number;
};

/** The answer to a request that was tried. No tool ran, and nothing is stored. */
export type TriedTurn = {
  readonly text: string;
  readonly reasoning?: string;
  readonly calls: readonly { readonly name: string; readonly input: Json }[];
  readonly usage: Usage;
  /** In US dollars; 0 if the price is not known. */
  readonly cost: number;
  readonly ms: number;
  readonly stopReason: StopReason;
  readonly model: string;
  /** The body that was sent, with secrets masked. */
  readonly body: string;
};
