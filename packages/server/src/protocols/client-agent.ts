import { type Agent, AgentError, defineTool, type Tool } from "capstan";

/** A tool that a request declares and the client runs. */
export type ClientTool = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly parameters?: object | undefined;
};

/** What a request may change about its agent. */
export type AgentOverrides = {
  /** Replaces the agent's instructions. */
  readonly instructions?: string | undefined;
  readonly tools?: readonly ClientTool[];
  /** JSON Schema of the answer, for an agent without one. */
  readonly output?: object | undefined;
};

/** Tools that every agent has. */
const reservedNames: readonly string[] = ["handoff", "read_result"];

/**
 * Creates the agent for a client: with the client's tools, and without the agent's own client-side tools, which only
 * another client could run. An agent with handoffs gets its own name, because other agents may hand back to the
 * original.
 */
export function createClientAgent(agent: Agent, { instructions, tools = [], output }: AgentOverrides): Agent {
  const own = agent.toolSource?.() ?? [...agent.tools.values()];
  for (const { name } of tools)
    if (reservedNames.includes(name) || own.some((tool) => tool.name === name))
      throw new AgentError("invalid_input", `The agent already has a tool named "${name}". Rename yours.`);
  const declared = tools.map(createClientTool);
  const source = agent.toolSource;
  const names = new Set(tools.map(({ name }) => name));
  if (names.size < tools.length) throw new AgentError("invalid_input", "Duplicate tool name.");
  const form =
    output && !agent.output
      ? withInputErrors(() => defineTool({ name: "answer", description: "", input: output }))
      : undefined;
  return {
    ...agent,
    ...buildToolset([...own.filter(isServerTool), ...declared]),
    ...(source && {
      // Dynamic tools cannot replace the client's tools.
      toolSource: () => [
        ...source().filter((tool) => isServerTool(tool) && !names.has(tool.name)),
        ...declared,
      ],
    }),
    ...(agent.handoffs && { name: `${agent.name}+client` }),
    ...(instructions !== undefined && { instructions }),
    ...(form && { output: form.schema }),
  };
}

/** Whether this server or the model's provider runs the tool, not the client. */
export function isServerTool({ execute, hosted }: Tool): boolean {
  return execute !== undefined || hosted !== undefined;
}

/** The tool runs at the client, so the server needs no approval for it. Its result is untrusted. */
function createClientTool({ name, description = "", parameters }: ClientTool): Tool {
  const input = parameters ?? { type: "object", properties: {} };
  return withInputErrors(() =>
    defineTool({ name, description, input, effects: "none", reads: ["untrusted", "private"] }),
  );
}

function withInputErrors<Made>(make: () => Made): Made {
  try {
    return make();
  } catch (thrown) {
    if (!(thrown instanceof AgentError)) throw thrown;
    throw new AgentError("invalid_input", thrown.message);
  }
}

function buildToolset(tools: readonly Tool[]): Pick<Agent, "tools" | "specs"> {
  return {
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    specs: tools
      .filter(({ hosted }) => !hosted)
      .map(({ name, description, schema }) => ({ name, description, input: schema.json })),
  };
}
