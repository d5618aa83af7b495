import { formatValue, suggestName } from "../base/definition.ts";
import { AgentError } from "../base/errors.ts";
import { isRecord, type Json } from "../base/json.ts";
import { asAgentRequest, createAgentRequest } from "../features/nested/call-agent.ts";
import type { Agent } from "../kernel/agent.ts";
import { toToolMap } from "../kernel/agent.ts";
import { toJson } from "../kernel/calls/to-json.ts";
import type { Tool, ToolContext } from "../kernel/tool.ts";
import type { RecordingLookup } from "./tool-recordings.ts";

/** Answers instead of the tool: with a fixed value, or with what a function of the input returns. */
export type Simulation = { readonly simulated: Json | ((input: never, context: ToolContext) => unknown) };

/**
 * How a tool is called in an experiment. `recorded`: from a recording, never for real. `simulated`: answers "Done." and
 * does nothing; with a value or a function, that is the answer.
 */
export type ToolMode = "real" | "recorded" | "simulated" | Simulation;

/** The mode of each tool by its name; `*` sets the mode of all others. Default: `real`. */
export type ToolModes = { readonly [tool: string]: ToolMode };

export type ToolModeContext = {
  readonly modes: ToolModes;
  readonly recordings: RecordingLookup;
  /** Told about every call without a recording. */
  onMissing(error: AgentError): void;
};

/** Whether the calls of a tool have effects outside of the experiment. */
export function isRealTool(modes: ToolModes, name: string): boolean {
  return getMode(modes, name) === "real";
}

function getMode(modes: ToolModes, name: string): ToolMode {
  if (Object.hasOwn(modes, name)) return modes[name] ?? "real";
  return Object.hasOwn(modes, "*") ? (modes["*"] ?? "real") : "real";
}

/** Checks the modes of an eval. Throws `invalid_definition`. */
export function checkToolModes(modes: ToolModes, owner: string): void {
  for (const [name, mode] of Object.entries(modes)) {
    if (["real", "recorded", "simulated"].includes(mode as string)) continue;
    if (isRecord(mode) && "simulated" in mode) continue;
    const message = `The tool "${name}" of ${owner} must be "real", "recorded", "simulated" or { simulated: … }, not ${formatValue(mode)}.`;
    throw new AgentError("invalid_definition", message);
  }
}

/** Returns a copy of the agent, and of all agents that it can call or hand off to, with tools in their modes. */
export function withToolModes(agent: Agent, context: ToolModeContext): Agent {
  if (Object.keys(context.modes).length === 0) return agent;
  const copies = new Map<Agent, Agent>();
  const copy = (original: Agent): Agent => {
    const known = copies.get(original);
    if (known) return known;
    const { toolSource, handoffs } = original;
    const wrap = (tools: readonly Tool[]) => tools.map((tool) => withMode(tool, context, copy));
    const remade: Agent = {
      ...original,
      ...(toolSource
        ? { toolSource: () => wrap(toolSource()) }
        : toToolMap(original.name, wrap([...original.tools.values()]))),
      ...(handoffs && { handoffs: () => handoffs().map(copy) }),
    };
    copies.set(original, remade);
    return remade;
  };
  const remade = copy(agent);
  assertKnownTools(agent, context.modes);
  return remade;
}

function withMode(tool: Tool, context: ToolModeContext, copy: (agent: Agent) => Agent): Tool {
  const mode = getMode(context.modes, tool.name);
  const { execute, agent } = tool;
  if (mode === "real") return agent && execute ? withAgent(tool, agent, copy) : tool;
  if (tool.hosted) {
    const message = `The tool "${tool.name}" is executed by the provider: record the model instead, with \`recorded(model, file)\`.`;
    throw new AgentError("invalid_definition", message);
  }
  // An isolated call would load the real tool in its own process.
  const { isolate: _isolate, agent: _agent, ...rest } = tool;
  return {
    ...rest,
    execute: (input, toolContext) => answerCall(tool, mode, { ...context, input, toolContext }),
  };
}

type CallContext = ToolModeContext & { readonly input: unknown; readonly toolContext: ToolContext };

function answerCall(
  tool: Tool,
  mode: ToolMode,
  { recordings, onMissing, input, toolContext }: CallContext,
): unknown {
  if (mode === "simulated") return "Done.";
  if (mode !== "recorded") {
    const { simulated } = mode as Simulation;
    return typeof simulated === "function" ? simulated(input as never, toolContext) : simulated;
  }
  const found = recordings.find(tool.name, toJson(input));
  if (found) return found;
  const message = `No recorded answer of "${tool.name}" for ${formatValue(input)}. Record the eval again, or simulate the tool.`;
  const error = new AgentError("recording_missing", message);
  onMissing(error);
  throw error;
}

/** A tool that asks an agent: the agent's own tools have modes too. */
function withAgent(tool: Tool, agent: Agent, copy: (agent: Agent) => Agent): Tool {
  return {
    ...tool,
    agent: copy(agent),
    async execute(input, toolContext) {
      const returned = await tool.execute?.(input, toolContext);
      const request = asAgentRequest(returned);
      return request ? createAgentRequest({ ...request, agent: copy(request.agent) }) : returned;
    },
  };
}

function assertKnownTools(agent: Agent, modes: ToolModes): void {
  const names = new Set<string>();
  const seen = new Set<Agent>();
  const visit = (one: Agent): void => {
    if (seen.has(one)) return;
    seen.add(one);
    for (const tool of one.toolSource?.() ?? one.tools.values()) {
      names.add(tool.name);
      if (tool.agent) visit(tool.agent);
    }
    for (const target of one.handoffs?.() ?? []) visit(target);
  };
  visit(agent);
  for (const name of Object.keys(modes)) {
    if (name === "*" || names.has(name)) continue;
    const message = `The agent "${agent.name}" has no tool "${name}".${suggestName(name, [...names])}`;
    throw new AgentError("invalid_definition", message);
  }
}
