import { createHash } from "node:crypto";
import type { Agent, Json, Store } from "capstan";
import { type ClientTool, type ClientWishes, clientAgent } from "../protocols/client-agent.ts";
import type { AgentFinder } from "./agent-resolver.ts";

const kind = "client-tools";
const mark = "+tools_";
const form = /^(.+)\+tools_([\w-]{43})$/;

/**
 * Stores the tools that a client declares for a run that is kept, or all that it wants otherwise of the agent, by what they
 * are. Gives what the name of an agent must end with to have them too: so whoever goes on with the run, in any process, has
 * them.
 */
export async function keepToolset(
  store: Store,
  wishes: readonly ClientTool[] | ClientWishes,
): Promise<string> {
  const written = JSON.stringify(wishes);
  const id = createHash("sha256").update(written).digest("base64url");
  if (!(await store.getRecord(kind, id)))
    await store.putRecord({ kind, id, body: JSON.parse(written) as Json }, 0).catch(async (thrown) => {
      // Somebody else was faster, with the same.
      if (!(await store.getRecord(kind, id))) throw thrown;
    });
  return `${mark}${id}`;
}

/** Finds agents with the tools of a client as well, under the names that `keepToolset` makes. */
export function withToolsets({ get, find }: AgentFinder, store: Store): AgentFinder {
  async function added(agent: Agent, id: string): Promise<Agent | undefined> {
    const kept = (await store.getRecord(kind, id))?.body;
    if (kept === undefined) return undefined;
    const wishes = (Array.isArray(kept) ? { tools: kept } : kept) as ClientWishes;
    return { ...clientAgent(agent, wishes), name: `${agent.name}${mark}${id}` };
  }
  return {
    async get(name, model) {
      const [, base, id] = form.exec(name) ?? [];
      const agent = base !== undefined && id !== undefined && (await added(await get(base, model), id));
      return agent || get(name, model);
    },
    async find(name) {
      const [, base, id] = form.exec(name) ?? [];
      if (base === undefined || id === undefined) return find(name);
      const agent = await find(base);
      return agent && added(agent, id);
    },
  };
}
