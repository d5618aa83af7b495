import {
  fromJsonSchema,
  type JsonSchemaType,
  type McpServer,
  type ToolAnnotations,
} from "@modelcontextprotocol/server";
import { type Agent, AgentError, type Effects } from "capstan";
import type { AgentCalls, ResumeInput } from "./agent-calls.ts";
import type { QueryInput } from "./agent-runs.ts";
import { answerSchema, callError } from "./call-result.ts";

const text = { type: "string" } as const;
const ids = { type: "array", items: text } as const;
const prompt = { ...text, minLength: 1, description: "What the agent is asked." };
const sessionId = {
  ...text,
  description: "Of an earlier answer, to go on with its conversation; a new one when left out.",
};

const answer = fromJsonSchema(answerSchema);
const askInput = fromJsonSchema<QueryInput>(closed({ prompt, sessionId }, ["prompt"]));
const resumeInput = fromJsonSchema<ResumeInput>(
  closed(
    {
      runId: text,
      approve: { ...ids, description: "Calls that the user allows." },
      deny: { ...ids, description: "Calls that the user does not allow." },
      answers: { type: "object", description: "Answers to questions, by the id of the call." },
    },
    ["runId"],
  ),
);

function closed(properties: Record<string, JsonSchemaType>, required: string[]): JsonSchemaType {
  return { type: "object", properties, required, additionalProperties: false };
}

/** How agents are offered: all of them in one tool, or a tool for each. */
export type Exposure = "query" | "agents";

/** The agents by the names of their tools. Refuses agents that could not be told apart. */
function agentsByTool(agents: readonly Agent[]): ReadonlyMap<string, Agent> {
  const byTool = new Map<string, Agent>();
  for (const agent of agents) {
    const name = `ask_${agent.name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 60)}`;
    const other = byTool.get(name);
    if (other) {
      const message = `The agents "${other.name}" and "${agent.name}" would both be the MCP tool "${name}": rename one of them.`;
      throw new AgentError("invalid_definition", message);
    }
    byTool.set(name, agent);
  }
  return byTool;
}

type AddTools = (server: McpServer, calls: AgentCalls) => void;

/** What adds the tools that reach agents to a server. Made once: a server is made for every request. */
export function agentTools(agents: readonly Agent[], expose: Exposure): AddTools {
  const addAsking = expose === "query" ? queryTool(agents) : askTools(agents);
  const annotations = annotationsOf(agents);
  return (server, calls) => {
    addAsking(server, calls);
    // Without tools there is nothing that a run could wait for.
    if (agents.every((agent) => effectsOf(agent).length === 0)) return;
    server.registerTool(
      "resume",
      {
        description:
          "Goes on with a run whose status is `waiting`, once the user has decided. A client that can ask its user is made to ask, whatever `approve` says.",
        inputSchema: resumeInput,
        outputSchema: answer,
        annotations,
      },
      (input, ctx) => calls.resume(input, ctx),
    );
  };
}

function askTools(agents: readonly Agent[]): AddTools {
  const byTool = agentsByTool(agents);
  return (server, calls) => {
    for (const [name, agent] of byTool) {
      const config = {
        description: `Asks the agent "${agent.name}".`,
        inputSchema: askInput,
        outputSchema: answer,
        annotations: annotationsOf([agent]),
      };
      server.registerTool(name, config, (input, ctx) => calls.query(agent, input, ctx));
    }
  };
}

function queryTool(agents: readonly Agent[]): AddTools {
  if (new Set(agents.map(({ name }) => name)).size < agents.length)
    throw new AgentError("invalid_definition", "Two agents have the same name: rename one of them.");
  const names = agents.map(({ name }) => `"${name}"`).join(", ");
  const agent = { ...text, description: `One of ${names}; the first when left out.` };
  const config = {
    description: `Asks an agent and gives its answer. Agents: ${names}.`,
    inputSchema: fromJsonSchema<QueryInput & { readonly agent?: string }>(
      closed({ prompt, sessionId, agent }, ["prompt"]),
    ),
    outputSchema: answer,
    annotations: annotationsOf(agents),
  };
  return (server, calls) => {
    server.registerTool("query", config, ({ agent: wanted, ...input }, ctx) => {
      const chosen = wanted === undefined ? agents[0] : agents.find(({ name }) => name === wanted);
      if (chosen) return calls.query(chosen, input, ctx);
      return callError(
        new AgentError("unknown_agent", `There is no agent "${wanted}". There are: ${names}.`),
      );
    });
  };
}

/** Of an agent's tools. One that may come later, with a function or with an agent that takes over, is not known yet. */
function effectsOf({ tools, toolSource, handoffs }: Agent): readonly (Effects | undefined)[] {
  const later = toolSource || handoffs ? [undefined] : [];
  return [...[...tools.values()].map(({ effects }) => effects), ...later];
}

/** As far as the agents' tools say what they do: what is not said may be the worst. */
function annotationsOf(agents: readonly Agent[]): ToolAnnotations {
  const effects = agents.flatMap(effectsOf);
  const readOnlyHint = effects.every((each) => each === "none");
  const destructiveHint = !effects.every((each) => each === "none" || each === "ui");
  return { readOnlyHint, destructiveHint, idempotentHint: false, openWorldHint: effects.length > 0 };
}
