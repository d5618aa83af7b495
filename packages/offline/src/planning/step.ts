import type { ModelRequest, ToolSpec } from "capstan";
import type { Call, CallRecord } from "../dialog/call-records.ts";
import type { Item } from "../dialog/collect-results.ts";
import type { Interpretation } from "../dialog/interpretation.ts";
import type { DialogContext } from "../dialog/resolve-reference.ts";
import type { Property } from "../matching/properties.ts";

/** The next step: call tools, ask a question, or answer from the results. */
export type Step =
  | { readonly type: "call"; readonly calls: readonly Call[]; readonly why: string }
  | { readonly type: "ask"; readonly tool: ToolSpec; readonly property: Property }
  | { readonly type: "rest"; readonly partial: string }
  | { readonly type: "tell"; readonly text: string }
  | { readonly type: "which"; readonly phrase: string; readonly candidates: readonly Item[] }
  | { readonly type: "answer" };

export type PlanContext = {
  readonly request: ModelRequest;
  readonly records: readonly CallRecord[];
  readonly interpretation: Interpretation;
  readonly context: DialogContext;
};

export const createCallStep = (calls: readonly Call[], why: string): Step => ({ type: "call", calls, why });
