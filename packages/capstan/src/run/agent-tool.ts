import type { Agent } from "../agent.ts";
import { checkFields } from "../definition.ts";
import { AgentError } from "../errors.ts";
import { createAgentRequest } from "../perform/call-agent.ts";
import { checkPolicy } from "../policy.ts";
import { defineTool, type Tool } from "../tool.ts";

export type AgentToolOptions = {
  /** Of one call; when left out what the agent's own policy says, or 5. */
  readonly maxTurns?: number | "unlimited";
  /** What the model is told that it can do. */
  readonly description?: string;
  /** By default the agent's. */
  readonly name?: string;
  /** For one call, all its turns together, and anew after each answer of a person. No limit when left out. */
  readonly timeoutMs?: number;
};

const defaultMaxTurns = 5;
const optionFields: readonly string[] = ["maxTurns", "description", "name", "timeoutMs"];

/**
 * An agent as a tool of another. A call is a run of its own, nested in that of the caller: it begins with the prompt
 * alone, has its own turns, instructions, tools and policy, and gives back its answer. It spends the budget of its
 * caller and never has more rights. Its events are told with those of the caller, its calls wait there for approval,
 * and after a crash it goes on where it was.
 */
export function agentTool(agent: Agent, options: AgentToolOptions = {}): Tool {
  if (typeof agent?.name !== "string" || agent.models === undefined)
    throw new AgentError("invalid_definition", "`agentTool` needs an agent: make it with `defineAgent`.");
  checkFields(`agent tool ${JSON.stringify(agent.name)}`, options, optionFields);
  const {
    name = agent.name,
    maxTurns = agent.policy.maxTurns ?? defaultMaxTurns,
    description = `Asks the agent "${agent.name}", which sees nothing but the prompt.`,
    timeoutMs = Number.MAX_SAFE_INTEGER,
  } = options;
  checkPolicy({ maxTurns });
  const tool = defineTool({
    name,
    description,
    input: {
      type: "object",
      properties: {
        prompt: { type: "string", minLength: 1, description: "What it is to do, with all it needs to know." },
      },
      required: ["prompt"],
      additionalProperties: false,
    },
    // Of itself it changes and reads nothing: each call that it makes is looked at for itself.
    effects: "none",
    reads: [],
    retry: { maxAttempts: 1 },
    timeoutMs,
    execute: ({ prompt }) => createAgentRequest({ agent, prompt, policy: { maxTurns } }),
  });
  return { ...(tool as Tool), agent };
}
