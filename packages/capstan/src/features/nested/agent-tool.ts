import { checkFields, formatValue } from "../../base/definition.ts";
import { AgentError } from "../../base/errors.ts";
import type { Agent } from "../../kernel/agent.ts";
import type { AgentCall, AgentContext } from "../../kernel/infer-agent.ts";
import { checkPolicy } from "../../kernel/policy.ts";
import { defineTool, type Tool, type ToolCall } from "../../kernel/tool.ts";
import { createAgentRequest } from "./call-agent.ts";

export type AgentToolOptions<Name extends string = string> = {
  /** Turn limit of one call. Defaults to the agent's own policy, or 5. */
  readonly maxTurns?: number | "unlimited";
  /** Tool description for the calling model. */
  readonly description?: string;
  /** Tool name. Defaults to the agent's name. */
  readonly name?: Name;
  /**
   * Time limit for all turns of one call; restarts after each answer from the user. Unlimited by default. In the
   * background: the running time of the whole work, after which it ends with what it has.
   */
  readonly timeoutMs?: number;
  /**
   * A call returns at once, and the agent works while the caller continues. Its answer arrives as a message to the caller,
   * who does not end before. Default: false, the call returns the answer.
   */
  readonly background?: boolean;
};

const defaultMaxTurns = 5;
const optionFields: readonly string[] = ["maxTurns", "description", "name", "timeoutMs", "background"];

/**
 * Makes an agent a tool of another agent. Each call is a run nested in the caller's run: it starts with the prompt only,
 * has its own turns, instructions, tools and policy, and returns its answer, or, in the background, a receipt. It spends the caller's budget and never has
 * more rights. Its events appear in the caller's stream, its approvals are given through the caller's run, and it resumes
 * after a crash.
 */
export function agentTool<A extends Agent, const Name extends string = A["name"]>(
  agent: A,
  options?: AgentToolOptions<Name>,
): Tool<ToolCall<NoInfer<Name>, { prompt: string }> | AgentCall<A>, AgentContext<A>>;
export function agentTool(agent: Agent, options: AgentToolOptions = {}): Tool {
  if (typeof agent?.name !== "string" || agent.models === undefined)
    throw new AgentError("invalid_definition", "`agentTool` needs an agent: make it with `defineAgent`.");
  checkFields(`agent tool ${JSON.stringify(agent.name)}`, options, optionFields);
  const {
    name = agent.name,
    maxTurns = agent.policy.maxTurns ?? defaultMaxTurns,
    background = false,
    description = describeAgentTool(agent, background),
    timeoutMs = Number.MAX_SAFE_INTEGER,
  } = options;
  checkPolicy({ maxTurns });
  if (typeof background !== "boolean")
    throw new AgentError(
      "invalid_definition",
      `background of the agent tool "${name}" cannot be ${formatValue(background)}: use true or false.`,
    );
  const isTimed = background && timeoutMs !== Number.MAX_SAFE_INTEGER;
  const policy = { maxTurns, ...(isTimed && { budget: { seconds: timeoutMs / 1000 } }) };
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
    // The call itself has no effect and reads nothing; each tool call of the nested run is checked separately.
    effects: "none",
    reads: [],
    retry: { maxAttempts: 1 },
    timeoutMs,
    execute: ({ prompt }) => createAgentRequest({ agent, prompt, policy, isBackground: background }),
  });
  return { ...(tool as Tool), agent, ...(background && { background }) };
}

function describeAgentTool({ name }: Agent, isBackground: boolean): string {
  return isBackground
    ? `Has the agent "${name}" work in the background. It sees nothing but the prompt. The call returns at once; the result arrives later as a message.`
    : `Asks the agent "${name}", which sees nothing but the prompt.`;
}
