// The definition of an agent, and what `defineAgent` infers from it. Types only.

import type { Json, JsonForm } from "../base/json.ts";
import type { Infer, InferInput } from "../schema/infer.ts";
import type { SchemaInput, StandardSchema } from "../schema/schema.ts";
import type { Agent, Instructions, ModelChoice } from "./agent.ts";
import type { EmbedTools } from "./model.ts";
import type { PolicyOverrides } from "./policy.ts";
import type { SettingsSource } from "./settings/settings.ts";
import type { Tool, ToolCall } from "./tool.ts";

type AgentSettings = {
  /** A model, or its name as `provider/model`. A list is a fallback chain: when a model fails, the next one is called. */
  readonly model: ModelChoice | readonly ModelChoice[];
  /** Separate models for turns that process tool results and for summaries; a smaller model is often enough. */
  readonly models?: {
    readonly afterTools?: ModelChoice | readonly ModelChoice[];
    readonly summary?: ModelChoice | readonly ModelChoice[];
  };
  readonly policy?: PolicyOverrides;
  /** What to ask of the model: `{ effort: "high", temperature: 0.7 }`, or a function that returns it for each turn. */
  readonly settings?: SettingsSource;
  /** Embeds texts, so that `search_tools` also finds tools by their meaning. It gets the descriptions and the queries. */
  readonly embedTools?: EmbedTools;
};

type ListSource<Item> = readonly Item[] | (() => readonly Item[]);

export type AgentDefinition<
  Name extends string = string,
  Output extends SchemaInput | undefined = SchemaInput,
  ContextSchema extends SchemaInput | undefined = SchemaInput,
  AgentTool extends Tool = Tool,
  Handoff extends Agent = Agent,
  FallbackTool extends Tool = Tool,
  InstructionsContext = unknown,
  // biome-ignore lint/suspicious/noExplicitAny: the tools of a plain definition may need any context
  Context = any,
> = AgentSettings & {
  readonly name: Name;
  readonly instructions?: Instructions<InstructionsContext>;
  /** A function is called at the start of every turn, so the tools may change between turns. */
  readonly tools?: ListSource<AgentTool> & ListSource<Tool<ToolCall, NoInfer<Context>>>;
  /** The agents it can hand off to. Use a function if agents refer to each other. */
  readonly handoffs?: ListSource<Handoff> & ListSource<Agent<Json | undefined, NoInfer<Context>>>;
  /** Runs when a limit ends the run and `policy.onLimit` includes `fallback-tool`. Receives a `FallbackInput`. */
  readonly fallbackTool?: FallbackTool & Tool<ToolCall, NoInfer<Context>>;
  /** Schema of the answer. The result then has a validated `output`. */
  readonly output?: Output;
  /**
   * Schema of the `context` of a run, which is checked when a run starts or resumes, and passed on unchanged. Without a
   * schema, the context is whatever the tools, the handoff targets and the instructions declare.
   */
  readonly context?: ContextSchema &
    (InferInput<ContextSchema> extends InstructionsContext
      ? unknown
      : StandardSchema<NoInfer<InstructionsContext>>);
};
/** The type of `result.output` of an agent's runs; undefined if the agent has no `output` schema. */
export type AgentOutput<A> =
  A extends Agent<infer Output, infer _Context, infer _Call, infer _Name> ? Output : never;

/** The calls in the results, events and hooks of an agent's runs: of its tools, its sub-agents and its handoff targets. */
export type AgentCall<A> =
  A extends Agent<infer _Output, infer _Context, infer Call, infer _Name>
    ? string extends Call["call"]["name"]
      ? Call
      : Call | BuiltInCall
    : never;

/** The context that runs of an agent need; for a union of agents, what all of them need. */
export type AgentContext<A> = NeededContext<A>;

/** Returns the context of a run for its caller. Required if the agents need more than the caller, which is the default. */
export type ContextSource<A, Caller> =
  Caller extends AgentContext<A>
    ? { readonly context?: GetContext<A, Caller> }
    : { readonly context: GetContext<A, Caller> };
type GetContext<A, Caller> = (caller: Caller) => AgentContext<A> | Promise<AgentContext<A>>;

/** The context that all of these tools and agents need; `unknown` if they need none. */
type NeededContext<Parts> = [Parts] extends [never]
  ? unknown
  : (Parts extends unknown ? (context: ContextOf<Parts>) => void : never) extends (
        context: infer Context,
      ) => void
    ? Context
    : never;

type ContextOf<Part> = Part extends {
  readonly "~types"?: { readonly context: (context: infer Context) => void } | undefined;
}
  ? // A plain `Tool` or `Agent` has the context `any`, which would absorb the others.
    0 extends 1 & Context
    ? unknown
    : Context
  : unknown;

/** The output of an agent: by its own schema, or by that of an agent it hands off to. */
export type InferOutput<Output, Handoff> =
  | (Output extends undefined
      ? undefined
      : unknown extends Infer<Output>
        ? Json | undefined
        : JsonForm<Infer<Output>>)
  | ([Handoff] extends [never] ? never : AgentOutput<Handoff>);

/** The context of an agent: by its schema, or, without one, what its instructions, tools and handoff targets need. */
export type InferContext<ContextSchema, InstructionsContext, Parts> = ContextSchema extends undefined
  ? InstructionsContext & NeededContext<Parts>
  : InferInput<ContextSchema>;

/** The calls of built-in tools, which every agent may make. */
export type BuiltInCall =
  | ToolCall<"handoff", { agent: string; message?: string }>
  | ToolCall<"read_result", { handle: string; from?: number; length?: number }>
  | ToolCall<"search_tools", { query: string; limit?: number }>;
