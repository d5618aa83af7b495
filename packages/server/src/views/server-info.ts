import type { Agent } from "capstan";
import type { ListedAgent } from "capstan/agents";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import type { DataAgent } from "../own-data/data-agents.ts";
import { version } from "../version.ts";

/** The pictures that the user interface can draw for an agent. */
export const agentPictures = ["chat", "files", "graph", "map", "sources", "tools"] as const;

/** How the user interface presents an agent. */
export type AgentProfile = {
  readonly title?: string;
  readonly description?: string;
  /** Example prompts. */
  readonly suggestions?: readonly string[];
  /** Words and names that questions for this agent contain, so that a question finds its agent. */
  readonly topics?: readonly string[];
  /** What its picture shows. Defaults to `chat`. */
  readonly picture?: (typeof agentPictures)[number];
};

/** Profiles by agent name. */
export type AgentProfiles = { readonly [agent: string]: AgentProfile };

export type ServerInfo = {
  readonly name: string;
  readonly version: string;
  readonly model: string;
  readonly isOffline: boolean;
  readonly user: string;
  readonly isAdmin: boolean;
  readonly eventViews: readonly { readonly name: string; readonly description: string }[];
  readonly agents: readonly AgentSummary[];
};

/** `app`: the app whose agent this is on own data. */
export type AgentSummary = AgentProfile & { readonly name: string; readonly app?: string };

/** Builds the public description of the server; contains no secrets. */
export async function buildServerInfo(
  deployment: Deployment,
  { user, isAdmin }: Caller,
): Promise<ServerInfo> {
  const model = getModelName(await deployment.resolveAgent());
  const listed = await deployment.agents.list();
  const agents = listed.flatMap((one) =>
    one.source !== "coded" && one.problem !== undefined ? [] : [summarizeAgent(deployment, one)],
  );
  const isOffline = model === "offline" || model.startsWith("offline/");
  const eventViews = Object.entries(deployment.eventViews).map(([name, { description }]) => ({
    name,
    description,
  }));
  return { name: "Capstan", version, model, isOffline, user, isAdmin, agents, eventViews };
}

/** Describes an agent that can run. */
export function summarizeAgent(
  { agentProfiles }: Pick<Deployment, "agentProfiles">,
  one: ListedAgent | DataAgent,
): AgentSummary {
  const { name } = one;
  if (one.source === "data") return { ...one.profile, name, app: one.app };
  const stored = one.source === "coded" ? undefined : one.data.description;
  const own = Object.hasOwn(agentProfiles, name) ? agentProfiles[name] : undefined;
  return { name, ...(stored !== undefined && { description: stored }), ...own };
}

/** Returns the name of the agent's first model. */
export function getModelName({ models }: Agent): string {
  const [first] = models.main;
  return typeof first === "string" ? first : first.id;
}
