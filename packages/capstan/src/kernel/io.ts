import type { Clock } from "../base/clock.ts";
import type { Json } from "../base/json.ts";
import type { NewRequest } from "../features/exact-requests/stored-request.ts";
import type { AgentRequest } from "../features/nested/call-agent.ts";
import type { Agents, ModelChoice } from "./agent.ts";
import type { ApprovalRule, ApprovalScope } from "./approval-scope.ts";
import type { ToolEffect } from "./effect.ts";
import type { DeltaBody } from "./event.ts";
import type { Model } from "./model.ts";
import type { Blob, Records } from "./records.ts";
import type { State } from "./state.ts";
import type { Outcome, Tool, ToolCall, ToolContext } from "./tool.ts";

/** Dependencies of `perform`. */
export type Io = {
  readonly agents: Agents;
  /** Read-only. */
  readonly state: State;
  readonly clock: Clock;
  readonly context: unknown;
  readonly hooks: CallHooks;
  emit(delta: DeltaBody): void;
  /** Keeps a request to a model. Missing if the store keeps none. */
  addRequest?(request: NewRequest): void;
  /** Returns the chosen model; a name is resolved to a client. */
  resolveModel(choice: ModelChoice): Model;
  /** Masks the run's secrets. Absent when the run has none. */
  mask?<Body extends object>(body: Body): Body;
  /** Masks the run's secrets in what was thrown. Absent when the run has none. */
  maskError?(thrown: unknown): unknown;
  /**
   * Answers a call with an agent, in a run nested in this one. Resolves when that run ends or waits; in the background, when
   * it has started. False: it was not started, because the budget of agents is spent.
   */
  runNested?(request: AgentRequest, callId: string, signal: AbortSignal): Promise<boolean>;
  /** Resolves when the background runs of these calls have ended or wait, or when a message to the run has arrived. */
  waitForBackground?(callIds: readonly string[], signal: AbortSignal): Promise<void>;
  /** Executes an isolated tool in a separate process. */
  executeIsolated?(tool: Tool, input: unknown, context: ToolContext): Promise<unknown>;
  /** Finds the user's rule that allows a call in this session. */
  findApprovalRule?(scopes: readonly ApprovalScope[]): Promise<ApprovalRule | undefined>;
  /** The records of the store. Missing where nothing is executed. */
  readonly records?: Records;
  readonly blobs: {
    put(blob: { readonly mediaType: string; readonly data: string | Uint8Array }): Promise<string>;
    get(handle: string): Promise<Blob | undefined>;
  };
};

export type HookCall<Context = unknown, Call extends ToolCall = ToolCall> = Call["call"] & {
  readonly id: string;
  readonly context: Context;
};

export type CallHooks<Context = unknown, Call extends ToolCall = ToolCall> = {
  /** Called before a model is called. A returned model replaces it, such as the same model with a limit. */
  onBeforeModel?(model: Model): Model | undefined;
  /** Called before a tool runs. A throw refuses the call; the model gets the reason. */
  onBeforeTool?(call: HookCall<Context, Call>): void | Promise<void>;
  /** Called after a tool has run or failed, also because its input is invalid. A returned outcome replaces the original. */
  onAfterTool?(call: HookCall<Context>, outcome: Outcome): Outcome | undefined | Promise<Outcome | undefined>;
  /**
   * Called with what a tool or a model of the run, or of a nested run, threw, in every attempt. The only place that gets
   * the stack, besides `orThrow`: facts, events, clients and models get the message. Not called for a cancelled call.
   */
  onError?(error: unknown, source: ErrorSource): void;
};

/** What threw an error, and in which run. */
export type ErrorSource = {
  readonly type: "tool" | "model";
  readonly runId: string;
  readonly sessionId: string;
  readonly agent: string;
  /** Of the tool, or the id of the model. */
  readonly name: string;
  /** Of a tool. */
  readonly callId?: string;
};

/** Returns the input of a validated call, which is always an object. */
export function getInput({ input }: Pick<ToolEffect, "input">): { readonly [key: string]: Json } {
  return input as { readonly [key: string]: Json };
}
