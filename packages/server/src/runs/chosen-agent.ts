import { AgentError } from "capstan";
import type { Deployment } from "../deployment.ts";

/** The agent that is meant by a model of this API, and the model that it is to have. Throws `unknown_agent`. */
export async function chosenAgent(
  id: string,
  { agents, models }: Deployment,
): Promise<{ readonly agent: string; readonly model?: string }> {
  const names = (await agents.list()).map(({ name }) => name);
  if (names.includes(id)) return { agent: id };
  const agent = names.find((each) => id.startsWith(`${each}@`) && models.has(id.slice(each.length + 1)));
  if (agent === undefined) throw unknownModel(id);
  return { agent, model: id.slice(agent.length + 1) };
}

/** For whoever names none. */
export function unknownModel(id: string): AgentError {
  return new AgentError("unknown_agent", `There is no model "${id}". \`GET /v1/models\` lists them.`);
}
