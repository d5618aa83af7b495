import {
  fromJsonSchema,
  type JsonSchemaType,
  type McpServer,
  type ToolAnnotations,
} from "@modelcontextprotocol/server";
import { type Agent, AgentError, type Effects } from "capstan";
import type { AgentCalls, ResumeInput } from "./agent-calls.ts";
import { type Exposure, mapAgentsByTool } from "./agent-names.ts";
import type { QueryInput } from "./agent-runs.ts";
import { answerSchema, toCallError } from "./call-result.ts";

const stringSchema = { type: "string" } as const;
const idsSchema = { type: "array", items: stringSchema } as const;
const promptSchema = { ...stringSchema, minLength: 1, description: "The request for the agent." };
const sessionIdSchema = {
  ...stringSchema,
  description: "Session of an earlier answer, to continue its conversation. Default: a new session.",
};

const answerOutput = fromJsonSchema(answerSchema);
const askInput = fromJsonSchema<QueryInput>(
  createObjectSchema({ prompt: promptSchema, sessionId: sessionIdSchema }, ["prompt"]),
);
const resumeInput = fromJsonSchema<ResumeInput>(
  createObjectSchema(
    {
      runId: stringSchema,
      approve: { ...idsSchema, description: "Ids of calls that the user approved." },
      deny: { ...idsSchema, description: "Ids of calls that the user denied." },
      answers: { type: "object", description: "Answers to questions, by call id." },
    },
    ["runId"],
  ),
);

function createObjectSchema(properties: Record<string, JsonSchemaType>, required: string[]): JsonSchemaType {
  return { type: "object", properties, required, additionalProperties: false };
}

export type ToolRegistrarOptions = {
  readonly agents: readonly Agent[];
  readonly expose: Exposure;
  /** Added to every tool. */
  readonly meta: Record<string, unknown> | undefined;
};

type AddTools = (server: McpServer, calls: AgentCalls) => void;

/** Returns a function that adds the agents' tools to a server. Created once, because every request gets a new server. */
export function createToolRegistrar(options: ToolRegistrarOptions): AddTools {
  const { agents, expose, meta } = options;
  const addQueryTools = expose === "query" ? createQueryTool(agents, meta) : createAskTools(agents, meta);
  const annotations = deriveAnnotations(agents);
  return (server, calls) => {
    addQueryTools(server, calls);
    // Without tools, a run never waits.
    if (agents.every((agent) => listEffects(agent).length === 0)) return;
    server.registerTool(
      "resume",
      {
        description:
          "Resumes a run whose status is `waiting`, after the user has decided. A client that supports elicitation must ask its user, whatever `approve` says.",
        inputSchema: resumeInput,
        outputSchema: answerOutput,
        annotations,
        ...(meta && { _meta: meta }),
      },
      (input, ctx) => calls.resume(input, ctx),
    );
  };
}

function createAskTools(agents: readonly Agent[], meta: ToolRegistrarOptions["meta"]): AddTools {
  const byTool = mapAgentsByTool(agents);
  return (server, calls) => {
    for (const [name, agent] of byTool) {
      const config = {
        description: `Asks the agent "${agent.name}".`,
        inputSchema: askInput,
        outputSchema: answerOutput,
        annotations: deriveAnnotations([agent]),
        ...(meta && { _meta: meta }),
      };
      server.registerTool(name, config, (input, ctx) => calls.query(agent, input, ctx));
    }
  };
}

function createQueryTool(agents: readonly Agent[], meta: ToolRegistrarOptions["meta"]): AddTools {
  const names = agents.map(({ name }) => `"${name}"`).join(", ");
  const agent = { ...stringSchema, description: `One of ${names}. Default: the first.` };
  const config = {
    description: `Asks an agent and returns its answer. Agents: ${names}.`,
    inputSchema: fromJsonSchema<QueryInput & { readonly agent?: string }>(
      createObjectSchema({ prompt: promptSchema, sessionId: sessionIdSchema, agent }, ["prompt"]),
    ),
    outputSchema: answerOutput,
    annotations: deriveAnnotations(agents),
    ...(meta && { _meta: meta }),
  };
  return (server, calls) => {
    server.registerTool("query", config, ({ agent: agentName, ...input }, ctx) => {
      const chosen = agentName === undefined ? agents[0] : agents.find(({ name }) => name === agentName);
      if (chosen) return calls.query(chosen, input, ctx);
      return toCallError(new AgentError("unknown_agent", `Unknown agent "${agentName}". Agents: ${names}.`));
    });
  };
}

/** Lists the effects of an agent's tools. Tools that may be added later, by a function or a handoff, count as unknown. */
function listEffects({ tools, toolSource, handoffs }: Agent): readonly (Effects | undefined)[] {
  const unknownEffects = toolSource || handoffs ? [undefined] : [];
  return [...[...tools.values()].map(({ effects }) => effects), ...unknownEffects];
}

/** Derives annotations from the effects of the agents' tools. Unknown effects count as the worst case. */
function deriveAnnotations(agents: readonly Agent[]): ToolAnnotations {
  const effects = agents.flatMap(listEffects);
  const readOnlyHint = effects.every((each) => each === "none");
  const destructiveHint = !effects.every((each) => each === "none" || each === "ui");
  return { readOnlyHint, destructiveHint, idempotentHint: false, openWorldHint: effects.length > 0 };
}
