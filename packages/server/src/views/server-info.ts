import type { Agent } from "capstan";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { version } from "../version.ts";

/** How the user interface presents an agent. */
export type AgentProfile = {
  readonly title?: string;
  readonly description?: string;
  /** Example prompts. */
  readonly suggestions?: readonly string[];
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
  readonly agents: readonly (AgentProfile & { readonly name: string })[];
  readonly eventViews: readonly { readonly name: string; readonly description: string }[];
};

/** Builds the public description of the server; contains no secrets. */
export async function buildServerInfo(
  deployment: Deployment,
  { user, isAdmin }: Caller,
): Promise<ServerInfo> {
  const model = getModelName(await deployment.resolveAgent());
  const listed = await deployment.agents.list();
  const agents = listed.flatMap((one) => {
    if (one.source !== "coded" && one.problem !== undefined) return [];
    const stored = one.source === "coded" ? undefined : one.data.description;
    const { agentProfiles } = deployment;
    const own = Object.hasOwn(agentProfiles, one.name) ? agentProfiles[one.name] : undefined;
    return [{ name: one.name, ...(stored !== undefined && { description: stored }), ...own }];
  });
  const isOffline = model === "offline" || model.startsWith("offline/");
  const eventViews = Object.entries(deployment.eventViews).map(([name, { description }]) => ({
    name,
    description,
  }));
  return { name: "Capstan", version, model, isOffline, user, isAdmin, agents, eventViews };
}

/** Returns the name of the agent's first model. */
export function getModelName({ models }: Agent): string {
  const [first] = models.main;
  return typeof first === "string" ? first : first.id;
}
