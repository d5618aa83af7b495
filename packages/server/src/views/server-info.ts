import type { Agent } from "capstan";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { version } from "../version.ts";

/** How an agent is shown to people. */
export type AgentProfile = {
  readonly title?: string;
  readonly description?: string;
  /** What one could ask it first. */
  readonly suggestions?: readonly string[];
};

/** Introductions by the names of agents. */
export type AgentProfiles = { readonly [agent: string]: AgentProfile };

/** What a server says of itself. */
export type About = {
  readonly name: string;
  readonly version: string;
  readonly model: string;
  readonly isOffline: boolean;
  readonly user: string;
  readonly isAdmin: boolean;
  readonly agents: readonly (AgentProfile & { readonly name: string })[];
};

/** To somebody who asks: nothing secret. */
export async function aboutServer(deployment: Deployment, { user, isAdmin }: Caller): Promise<About> {
  const model = modelNameOf(await deployment.agent());
  const listed = await deployment.agents.list();
  const agents = listed.flatMap((one) => {
    if (one.source !== "coded" && one.problem !== undefined) return [];
    const stored = one.source === "coded" ? undefined : one.data.description;
    const { introductions } = deployment;
    const own = Object.hasOwn(introductions, one.name) ? introductions[one.name] : undefined;
    return [{ name: one.name, ...(stored !== undefined && { description: stored }), ...own }];
  });
  const isOffline = model === "offline" || model.startsWith("offline/");
  return { name: "Capstan", version, model, isOffline, user, isAdmin, agents };
}

/** The model of an agent that is asked first. */
export function modelNameOf({ models }: Agent): string {
  const [first] = models.main;
  return typeof first === "string" ? first : first.id;
}
