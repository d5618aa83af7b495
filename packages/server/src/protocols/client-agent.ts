import { type Agent, AgentError, defineTool, type Tool } from "capstan";

/** A tool that a request declares: the client runs it. */
export type ClientTool = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly parameters?: object | undefined;
};

/** What a request may change of the agent that answers it. */
export type ClientWishes = {
  /** In place of the agent's own. */
  readonly instructions?: string | undefined;
  readonly tools?: readonly ClientTool[];
  /** The form of the answer, as JSON Schema, for an agent that has none of its own. */
  readonly output?: object | undefined;
};

/** Of every agent, whatever its tools are called. */
const reserved: readonly string[] = ["handoff", "read_result"];

/**
 * The agent as it answers a client that keeps the history: with the tools that the client runs, and without those that
 * only another client could run. It has a name of its own, because it may hand over to agents that hand back to the first.
 */
export function clientAgent(agent: Agent, { instructions, tools = [], output }: ClientWishes): Agent {
  const own = agent.toolSource?.() ?? [...agent.tools.values()];
  for (const { name } of tools)
    if (reserved.includes(name) || own.some((tool) => tool.name === name))
      throw new AgentError(
        "invalid_input",
        `A tool cannot be called "${name}" here: the agent has one of that name. Rename yours.`,
      );
  const declared = tools.map(clientTool);
  const source = agent.toolSource;
  const names = new Set(tools.map(({ name }) => name));
  if (names.size < tools.length) throw new AgentError("invalid_input", "Two tools have the same name.");
  const form =
    output && !agent.output
      ? checked(() => defineTool({ name: "answer", description: "", input: output }))
      : undefined;
  return {
    ...agent,
    ...toolset([...own.filter(isRunHere), ...declared]),
    ...(source && {
      // What comes later cannot take the place of what the client has declared.
      toolSource: () => [...source().filter((tool) => isRunHere(tool) && !names.has(tool.name)), ...declared],
    }),
    ...(agent.handoffs && { name: `${agent.name}+client` }),
    ...(instructions !== undefined && { instructions }),
    ...(form && { output: form.schema }),
  };
}

function isRunHere({ execute }: Tool): boolean {
  return execute !== undefined;
}

/**
 * Nothing of it happens here, so there is nothing to ask about: what it does is between the client and its user. What it
 * brings back is anybody's word.
 */
function clientTool({ name, description = "", parameters }: ClientTool): Tool {
  const input = parameters ?? { type: "object", properties: {} };
  return checked(() =>
    defineTool({ name, description, input, effects: "none", reads: ["untrusted", "private"] }),
  );
}

function checked<Made>(make: () => Made): Made {
  try {
    return make();
  } catch (thrown) {
    if (!(thrown instanceof AgentError)) throw thrown;
    throw new AgentError("invalid_input", thrown.message);
  }
}

function toolset(tools: readonly Tool[]): Pick<Agent, "tools" | "specs"> {
  return {
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    specs: tools.map(({ name, description, schema }) => ({ name, description, input: schema.json })),
  };
}
