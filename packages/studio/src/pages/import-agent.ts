import type { AgentData } from "capstan/agents";
import type { AgentInfo } from "capstan/client";
import { client } from "../connection/client.ts";

/** Stores the agent of a file: as a new one, or as the next version of the one that has its name. */
export async function importAgent(text: string): Promise<AgentInfo> {
  const data = parsed(text);
  const known = (await client.agents.list()).find(({ name }) => name === data.name);
  return client.agents.save(data, known?.version ?? 0);
}

function parsed(text: string): AgentData {
  try {
    const data: unknown = JSON.parse(text);
    if (typeof Reflect.get(Object(data), "name") === "string") return data as AgentData;
  } catch {
    // Said below.
  }
  throw new Error("This file is not an agent: it must be JSON with a name, as Export writes it.");
}
