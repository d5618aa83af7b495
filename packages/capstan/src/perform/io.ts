import type { Agent, Agents, ModelChoice } from "../agent.ts";
import type { Clock } from "../clock.ts";
import type { ToolEffect } from "../effect.ts";
import { AgentError } from "../errors.ts";
import type { DeltaBody } from "../event.ts";
import type { Json } from "../json.ts";
import type { Model } from "../model.ts";
import type { State } from "../state/state.ts";
import type { Blob } from "../store.ts";
import type { Outcome } from "../tool.ts";
import type { AgentRequest } from "./call-agent.ts";

/** What performing needs of the world around it. */
export type Io = {
  readonly agents: Agents;
  /** Read, never changed. */
  readonly state: State;
  readonly clock: Clock;
  readonly context: unknown;
  readonly hooks: CallHooks;
  emit(delta: DeltaBody): void;
  /** The model that was chosen; the client of one that is given by name. */
  resolveModel(choice: ModelChoice): Model;
  /** What is said, without the secrets of the run. Left out when there are none. */
  mask?<Body extends object>(body: Body): Body;
  /** Has an agent answer a call, in a run of its own that is nested in this one: until it ends or waits. */
  runNested?(request: AgentRequest, callId: string, signal: AbortSignal): Promise<void>;
  readonly blobs: {
    put(blob: { readonly mediaType: string; readonly data: string | Uint8Array }): Promise<string>;
    get(handle: string): Promise<Blob | undefined>;
  };
};

export type HookCall = {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  readonly context: unknown;
};

export type CallHooks = {
  /** Before a tool runs. A throw refuses the call; the model is told why. */
  onBeforeTool?(call: HookCall): void | Promise<void>;
  /** After a tool has run or failed; what it returns takes the place of the outcome. */
  onAfterTool?(call: HookCall, outcome: Outcome): Outcome | undefined | Promise<Outcome | undefined>;
};

export function getAgent(name: string, { agents }: Pick<Io, "agents">): Agent {
  const agent = agents.get(name);
  if (!agent) throw new AgentError("unknown_agent", `No agent named "${name}".`);
  return agent;
}

/** The input of a call that was found valid: an object. */
export function getInput({ input }: Pick<ToolEffect, "input">): { readonly [key: string]: Json } {
  return input as { readonly [key: string]: Json };
}

/** The run whose effect this is. */
export function getRunId({ state }: Pick<Io, "state">): string {
  return state.run?.id ?? "";
}
