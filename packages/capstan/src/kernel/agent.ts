import {
  anyValue,
  checkDefinition,
  checkFields,
  type FieldRule,
  functionField,
  objectField,
  schemaField,
  suggestName,
} from "../base/definition.ts";
import { AgentError } from "../base/errors.ts";
import { isRecord, type Json } from "../base/json.ts";
import { assertNodeVersion } from "../base/node-version.ts";
import { type Schema, type SchemaInput, toSchema } from "../schema/schema.ts";
import type { ModelChain } from "./event.ts";
import type { NumberedFragment } from "./history.ts";
import { checkHostedSupport } from "./hosted-support.ts";
import type { HostedToolSpec } from "./hosted-tool.ts";
import type { AgentDefinition, InferContext, InferOutput } from "./infer-agent.ts";
import type { EmbedTools, Model, ToolSpec } from "./model.ts";
import { checkPolicy, defaultPolicy, type PolicyOverrides } from "./policy.ts";
import {
  checkNamedTool,
  checkSettings,
  type ModelSettings,
  type SettingsSource,
} from "./settings/settings.ts";
import { checkSupport } from "./settings/support.ts";
import { searchToolsName, type Tool, type ToolCall } from "./tool.ts";

export type { AgentDefinition };

/** The argument of an instructions function, which is called for every turn. */
export type InstructionsInput<Context = unknown> = {
  /** The date and time in the user's time zone, formatted for the model. */
  readonly now: string;
  readonly timeZone: string;
  readonly turn: number;
  readonly maxTurns: number | "unlimited";
  /** Every tool of the agent, with its description. */
  readonly tools: readonly ToolSpec[];
  /** The sources found so far; an answer cites them by `n`. */
  readonly fragments: readonly NumberedFragment[];
  readonly context: Context;
};

export type Instructions<Context = unknown> =
  | string
  | ((input: InstructionsInput<Context>) => string | Promise<string>);

export type ModelChoice = Model | string;
export type ModelsInTurn = readonly [ModelChoice, ...ModelChoice[]];

/** The tools of an agent. */
export type Toolset = {
  /** A map, so that names on `Object.prototype` are not mistaken for tools. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly specs: readonly ToolSpec[];
  /** Tools that the provider executes. Absent without any. */
  readonly hosted?: readonly HostedToolSpec[];
};

/**
 * A defined agent. A plain `Agent` is any agent: nothing is known of its output and its calls, and its runs take any
 * context.
 */
export interface Agent<
  Output = Json | undefined,
  // biome-ignore lint/suspicious/noExplicitAny: only `any` accepts every context and is accepted for every context
  Context = any,
  Call extends ToolCall = ToolCall,
  Name extends string = string,
> extends Toolset {
  /** Types only; there is no such field. `context` is a function, because an agent accepts more than it needs. */
  readonly "~types"?:
    | { readonly output: Output; readonly call: Call; readonly context: (context: Context) => void }
    | undefined;
  readonly name: Name;
  /** One fallback chain per kind of turn, and one for summaries. */
  readonly models: { readonly [Chain in ModelChain | "summary"]: ModelsInTurn };
  readonly instructions: Instructions;
  /** Returns the tools of a turn. `tools` is empty until a run has called it. */
  readonly toolSource?: () => readonly Tool[];
  /** Absent if the agent has no handoffs. */
  readonly handoffs?: () => readonly Agent[];
  readonly fallbackTool?: Tool;
  readonly output?: Schema;
  /** Schema of the context of a run. */
  readonly context?: Schema;
  readonly policy: PolicyOverrides;
  readonly settings?: SettingsSource;
  /** Embeds the tools and the queries of `search_tools`. */
  readonly embedTools?: EmbedTools;
}

/** The agents a run can be continued with, by name. */
export type Agents = ReadonlyMap<string, Agent>;

/** The input of a fallback tool: why the run ended and what it tried. */
export type FallbackInput = {
  readonly reason: string;
  readonly query: string;
  readonly tried: { readonly tool: string; readonly status: string; readonly preview: string }[];
};

const agentFields: Readonly<Record<keyof AgentDefinition, FieldRule>> = {
  name: anyValue,
  model: anyValue,
  models: { ...objectField, hint: "an object with afterTools, summary" },
  instructions: {
    hint: "a string or a function that returns one",
    accepts: (value) => typeof value === "string" || typeof value === "function",
  },
  tools: anyValue,
  handoffs: anyValue,
  fallbackTool: { hint: "a tool made with `defineTool`", accepts: isTool },
  output: schemaField,
  context: schemaField,
  policy: objectField,
  embedTools: functionField,
  settings: {
    hint: "an object or a function that returns one",
    accepts: (value) => isRecord(value) || typeof value === "function",
  },
};

/**
 * Defines an agent. Infers the `Output` and the `Context` of its runs, and the calls of its tools. Throws
 * `invalid_definition` for unknown fields and invalid values.
 */
export function defineAgent<
  const Name extends string,
  const Output extends SchemaInput | undefined = undefined,
  const ContextSchema extends SchemaInput | undefined = undefined,
  AgentTool extends Tool = never,
  Handoff extends Agent = never,
  FallbackTool extends Tool = never,
  InstructionsContext = InferContext<ContextSchema, unknown, AgentTool | Handoff | FallbackTool>,
  Context = InferContext<ContextSchema, InstructionsContext, AgentTool | Handoff | FallbackTool>,
>(
  definition: AgentDefinition<
    Name,
    Output,
    ContextSchema,
    AgentTool,
    Handoff,
    FallbackTool,
    InstructionsContext,
    Context
  >,
): Agent<
  InferOutput<Output, Handoff>,
  Context,
  NonNullable<(AgentTool | Handoff | FallbackTool)["~types"]>["call"],
  Name
>;
export function defineAgent(definition: AgentDefinition): Agent {
  assertNodeVersion();
  const { name, instructions = "", tools = [], fallbackTool, policy = {}, settings } = definition;
  const { output, context, embedTools } = definition;
  if (typeof name !== "string" || !name.trim()) {
    throw new AgentError("invalid_definition", "An agent needs a name.");
  }
  checkAgent(name, definition);
  const main = [definition.model].flat() as ModelChoice[];
  const afterTools = [definition.models?.afterTools ?? main].flat() as ModelChoice[];
  const summary = [definition.models?.summary ?? main].flat() as ModelChoice[];
  if ([main, afterTools, summary].some((chain) => chain.length === 0 || !chain.every(isModel))) {
    throw new AgentError(
      "invalid_definition",
      `The agent "${name}" needs a model: its name as \`provider/model\`, an object with \`stream\`, or a list of them.`,
    );
  }
  const handoffs = readHandoffs(definition);
  if (isRecord(settings)) checkAgentSettings(definition, settings, [...main, ...afterTools]);
  const toolset = toToolMap(name, typeof tools === "function" ? [] : tools);
  if (toolset.hosted) {
    const hasFunctions = toolset.specs.length > 0 || handoffs !== undefined;
    const request = { hosted: toolset.hosted, hasFunctions };
    checkHostedSupport(`agent ${JSON.stringify(name)}`, request, [...main, ...afterTools]);
  }
  return {
    name,
    models: {
      main: main as [ModelChoice],
      afterTools: afterTools as [ModelChoice],
      summary: summary as [ModelChoice],
    },
    instructions,
    ...toolset,
    ...(typeof tools === "function" && { toolSource: tools }),
    ...(handoffs && { handoffs }),
    ...(fallbackTool && { fallbackTool }),
    ...(output && { output: toSchema(output, { owner: `the agent "${name}"` }) }),
    ...(context && { context: toContextSchema(name, context) }),
    policy,
    ...(settings && { settings }),
    ...(embedTools && { embedTools }),
  };
}

/** No model sees the context, so it may have what JSON Schema cannot express, such as functions. */
function toContextSchema(name: string, context: SchemaInput): Schema {
  const owner = `the context of the agent "${name}"`;
  return toSchema(context, { owner, jsonSchema: "~standard" in context ? {} : undefined });
}

function checkAgentSettings(
  { name, tools, handoffs }: AgentDefinition,
  settings: ModelSettings,
  models: readonly ModelChoice[],
): void {
  const owner = `agent ${JSON.stringify(name)}`;
  checkSettings(owner, settings);
  if (Array.isArray(tools ?? [])) {
    const names = ((tools ?? []) as readonly Tool[]).map((tool) => tool?.name);
    checkNamedTool(owner, settings, handoffs ? [...names, handoffName] : names);
  }
  checkSupport(owner, settings, models);
}

function checkAgent(name: string, definition: AgentDefinition): void {
  const owner = `agent ${JSON.stringify(name)}`;
  for (const field of Object.keys(definition)) {
    const isMisplaced =
      Object.hasOwn(defaultPolicy, field) && suggestName(field, Object.keys(agentFields)) === "";
    if (!isMisplaced) continue;
    const message = `${field} of the ${owner} belongs in its policy: write \`policy: { ${field}: … }\`.`;
    throw new AgentError("invalid_definition", message);
  }
  checkDefinition(owner, definition, agentFields);
  checkFields(`models of the ${owner}`, definition.models ?? {}, ["afterTools", "summary"]);
  checkPolicy(definition.policy ?? {});
}

function isModel(choice: ModelChoice): boolean {
  return typeof choice === "string" ? choice.trim() !== "" : typeof choice?.stream === "function";
}

/** Indexes tools by name. Throws `invalid_definition` for duplicate names and for values that are not tools. */
export function toToolMap(agent: string, tools: readonly Tool[]): Toolset {
  if (!Array.isArray(tools))
    throw new AgentError("invalid_definition", `The tools of the agent "${agent}" must be an array.`);
  const byName = indexTools(agent, tools);
  const hosted = tools.flatMap(({ name, hosted: tool }) => (tool ? { ...tool, name } : []));
  return {
    tools: byName,
    specs: tools
      .filter((tool) => !tool.hosted)
      .map(({ name, description, schema, native }) => ({
        ...{ name, description, input: schema.json },
        ...(native && { native }),
      })),
    ...(hosted.length > 0 && { hosted }),
  };
}

function isTool(value: unknown): boolean {
  return isRecord(value) && isRecord(value.schema) && typeof value.schema.validate === "function";
}

function indexTools(agent: string, tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (!isTool(tool)) {
      throw new AgentError(
        "invalid_definition",
        `The agent "${agent}" has an invalid tool: create it with \`defineTool\`.`,
      );
    }
    if (byName.has(tool.name)) {
      throw new AgentError(
        "invalid_definition",
        `The agent "${agent}" has two tools named "${tool.name}": rename one.`,
      );
    }
    byName.set(tool.name, tool);
  }
  const deferred = tools.find(({ defer }) => defer);
  if (deferred && byName.has(searchToolsName)) {
    const message = `The agent "${agent}" has a tool named "${searchToolsName}", so "${deferred.name}" with \`defer\` could not be found: rename the first.`;
    throw new AgentError("invalid_definition", message);
  }
  return byName;
}

/** The name of the built-in tool for handoffs. */
export const handoffName = "handoff";
/** The name of the built-in tool for background work. */
export const backgroundWorkName = "background_work";

function readHandoffs({ name, tools, handoffs }: AgentDefinition): Agent["handoffs"] {
  if (handoffs === undefined || (Array.isArray(handoffs) && handoffs.length === 0)) return undefined;
  if (Array.isArray(tools) && tools.some((tool) => tool?.name === handoffName)) {
    throw new AgentError(
      "invalid_definition",
      `The agent "${name}" has handoffs and a tool named "${handoffName}": rename the tool.`,
    );
  }
  const source = handoffs;
  if (typeof source !== "function") {
    checkHandoffs(name, source);
    return () => source;
  }
  let checked: readonly Agent[] | undefined;
  return () => {
    checked ??= checkHandoffs(name, source());
    return checked;
  };
}

function checkHandoffs(name: string, handoffs: readonly Agent[]): readonly Agent[] {
  const isAgent = (agent: Agent) => typeof agent?.name === "string" && agent.models !== undefined;
  if (Array.isArray(handoffs) && handoffs.every(isAgent)) return handoffs;
  throw new AgentError(
    "invalid_definition",
    `The handoffs of the agent "${name}" must be an array of agents, or a function that returns one if agents refer to each other.`,
  );
}

/** Whether an agent has tools that are resolved again for each turn. */
export function hasDynamicTools(agents: Agents): boolean {
  for (const { toolSource } of agents.values()) if (toolSource) return true;
  return false;
}

/** Indexes the agents by name, followed by all agents reachable through handoffs. Throws for duplicate names. */
export function indexAgents(agents: Agent | readonly Agent[]): Agents {
  const byName = new Map<string, Agent>();
  const queue: Agent[] = [agents].flat();
  for (const agent of queue) {
    const existing = byName.get(agent.name);
    if (existing === agent) continue;
    if (existing) {
      const message = `Two agents are named "${agent.name}": a run identifies its agents by name, so rename one.`;
      throw new AgentError("invalid_definition", message);
    }
    byName.set(agent.name, agent);
    queue.push(...(agent.handoffs?.() ?? []));
  }
  return byName;
}

export function getAgent(agents: Agents, name: string): Agent {
  const agent = agents.get(name);
  if (!agent) throw new AgentError("unknown_agent", `No agent named "${name}".`);
  return agent;
}
