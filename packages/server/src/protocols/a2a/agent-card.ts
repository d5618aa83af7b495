import { version } from "../../version.ts";
import type { AgentProfile } from "../../views/server-info.ts";
import { a2aVersion } from "./wire.ts";

/** Public data of an agent. */
export type CardAgent = AgentProfile & { readonly name: string };

export type CardOptions = {
  readonly agent: CardAgent;
  /** Agents that have their own card. */
  readonly others: readonly CardAgent[];
  /** Address of the server, such as `https://agents.example.com`, or with the path under which it is mounted. */
  readonly origin: string;
  /** Path that receives messages for the agent. */
  readonly path: string;
};

const inputModes = ["text/plain", "application/json", "image/png", "image/jpeg", "application/pdf"];
const outputModes = ["text/plain", "application/json"];

/** Builds an A2A agent card. */
export function buildAgentCard({ agent, others, origin, path }: CardOptions): object {
  return {
    name: agent.title ?? agent.name,
    description: describeCardAgent(agent),
    version,
    supportedInterfaces: [
      { url: `${origin}${path}`, protocolBinding: "JSONRPC", protocolVersion: a2aVersion },
    ],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true },
    securitySchemes: {
      bearer: { httpAuthSecurityScheme: { scheme: "Bearer", description: "An API key of this server." } },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    skills: [
      buildSkill(agent),
      ...others.map((other) => buildSkill(other, `${origin}${getCardPath(other.name)}`)),
    ],
  };
}

export function getAgentPath(name: string): string {
  return `/a2a/${encodeURIComponent(name)}`;
}

function getCardPath(name: string): string {
  return `${getAgentPath(name)}/agent-card.json`;
}

function buildSkill(agent: CardAgent, card?: string): object {
  const { name, title = name, suggestions = [] } = agent;
  const words = describeCardAgent(agent);
  return {
    ...{ id: name, name: title, tags: ["agent"] },
    description: card === undefined ? words : `${words} Its own card: ${card}`,
    ...(suggestions.length > 0 && { examples: suggestions }),
  };
}

function describeCardAgent({ name, description }: CardAgent): string {
  return description || `Agent "${name}".`;
}
