import { version } from "../../version.ts";
import type { AgentProfile } from "../../views/server-info.ts";
import { a2aVersion } from "./wire.ts";

/** An agent as a card shows it: nothing of how it is made. */
export type ShownAgent = AgentProfile & { readonly name: string };

export type CardOptions = {
  readonly agent: ShownAgent;
  /** Those that have cards of their own. */
  readonly others: readonly ShownAgent[];
  /** Where the server is, such as `https://agents.example.com`. */
  readonly origin: string;
  /** Of the server: where messages to the agent go. */
  readonly path: string;
};

const inputModes = ["text/plain", "application/json", "image/png", "image/jpeg", "application/pdf"];
const outputModes = ["text/plain", "application/json"];

/** What a client has to know before it speaks to an agent. */
export function agentCard({ agent, others, origin, path }: CardOptions): object {
  return {
    name: agent.title ?? agent.name,
    description: describe(agent),
    version,
    supportedInterfaces: [
      { url: `${origin}${path}`, protocolBinding: "JSONRPC", protocolVersion: a2aVersion },
    ],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true },
    securitySchemes: {
      bearer: { httpAuthSecurityScheme: { scheme: "Bearer", description: "A key of this server." } },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    skills: [skillOf(agent), ...others.map((other) => skillOf(other, `${origin}${cardPath(other.name)}`))],
  };
}

/** Where messages to an agent go. */
export function agentPath(name: string): string {
  return `/a2a/${encodeURIComponent(name)}`;
}

function cardPath(name: string): string {
  return `${agentPath(name)}/agent-card.json`;
}

function skillOf(agent: ShownAgent, card?: string): object {
  const { name, title = name, suggestions = [] } = agent;
  const words = describe(agent);
  return {
    ...{ id: name, name: title, tags: ["agent"] },
    description: card === undefined ? words : `${words} It has a card of its own: ${card}`,
    ...(suggestions.length > 0 && { examples: suggestions }),
  };
}

function describe({ name, description }: ShownAgent): string {
  return description || `The agent "${name}".`;
}
