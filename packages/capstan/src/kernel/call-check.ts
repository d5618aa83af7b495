import type { ErrorData } from "../base/errors.ts";
import type { ApprovalScope } from "./approval-scope.ts";
import type { UiHint } from "./history.ts";
import type { Source } from "./provenance.ts";

/** The result of validating a call: an error if it cannot run, the approval it needs, or the rule that allows it. */
export type CallCheck = {
  readonly error?: ErrorData;
  readonly approval?: {
    readonly reason: string;
    readonly digest: string;
    /** Set by the safety gate: the sources that make the call suspicious. */
    readonly because?: readonly Source[];
    /** Private data found in the arguments. */
    readonly leaks?: readonly Leak[];
    /** The calls that the user can allow for the whole session; absent if each needs its own decision. */
    readonly always?: ApprovalScope;
    /** A wider set of calls that the user can allow instead, as the tool names it. */
    readonly pattern?: ApprovalScope;
    /** What the call would do, such as a diff. */
    readonly ui?: UiHint;
  };
  /** The user's rule that allows the call, and the digest of the call. */
  readonly rule?: { readonly id: string; readonly digest: string };
};

/** A piece of private data in the arguments of a call, masked for display, and the call it was read with. */
export type Leak = { readonly tool: string; readonly turn: number; readonly shown: string };
