import { type Agent, defineAgent, type ModelChoice } from "../agent.ts";
import { AgentError } from "../errors.ts";
import { standardInstructions } from "../prompt/prompt.ts";
import type { AgentData } from "./agent-data.ts";
import { type PolicyLimits, within } from "./policy-limits.ts";
import type { Registry } from "./tool-registry.ts";

/** What agents are built from. */
export type Parts = {
  readonly coded: ReadonlyMap<string, Agent>;
  readonly registry: Registry;
  readonly models: ReadonlyMap<string, ModelChoice> | undefined;
  readonly limits: PolicyLimits;
  /** The data of a stored agent, which has been checked. */
  data(name: string): AgentData | undefined;
};

/** The agent of this name and, behind its `handoffs`, those it may hand off to, however they hand off to each other. */
export function buildTeam(name: string, parts: Parts): Agent {
  const team = new Map<string, Agent>(parts.coded);
  function join(member: string): void {
    if (team.has(member)) return;
    const data = parts.data(member);
    if (!data) throw new AgentError("unknown_agent", `There is no agent named ${JSON.stringify(member)}.`);
    team.set(member, built(data, parts, team));
    for (const next of data.handoffs ?? []) join(next);
  }
  join(name);
  return team.get(name) as Agent;
}

function built(data: AgentData, parts: Parts, team: ReadonlyMap<string, Agent>): Agent {
  const { name, prompt = "", tools = [], handoffs = [] } = data;
  const policy = within(data.policy ?? {}, parts.limits);
  return defineAgent({
    name,
    model: modelsOf(data, parts),
    instructions: standardInstructions(identityOf(data), {
      ...(prompt.trim() && { constraints: prompt }),
      toolFirst: policy.requireToolFirst === true,
    }),
    tools: tools.flatMap((tool) => parts.registry.get(tool)?.(data) ?? []),
    // Looked up when it is asked for: agents may hand off to each other in a circle.
    ...(handoffs.length > 0 && { handoffs: () => handoffs.flatMap((target) => team.get(target) ?? []) }),
    policy,
  });
}

function identityOf({ name, description = "" }: AgentData): string {
  return [`You are "${name}".`, description.trim()].filter((text) => text !== "").join(" ");
}

function modelsOf({ model }: AgentData, { models }: Parts): readonly ModelChoice[] {
  const named = model === undefined ? [...(models?.keys() ?? [])].slice(0, 1) : [model].flat();
  return (named as string[]).map((name) => models?.get(name) ?? name);
}
