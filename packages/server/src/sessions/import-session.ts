import { AgentError, isRecord } from "capstan";
import { applyLimits, resolvePolicy } from "capstan/agents";
import { type ImportOptions, sessions } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";
import { removeToolset } from "../runs/agent-resolver.ts";

/**
 * Imports a session file under an id. Its runs get the agents and policies that the caller's own runs would have, within
 * the policy limits and the caller's quotas. Throws `quota_exceeded` when these are used up.
 */
export async function importSession(
  deployment: Deployment,
  caller: Caller,
  { id, file }: { readonly id: string; readonly file: string },
): Promise<void> {
  const { store } = deployment;
  const empty = findEmptySession(file);
  if (empty) return store.create(id, empty.title);
  await sessions(store).import(file, { id, findAgent: await createImportFinder(deployment, caller) });
}

async function createImportFinder(
  { findAgent, policy, policyLimits, quotaAdmission }: Deployment,
  caller: Caller,
): Promise<NonNullable<ImportOptions["findAgent"]>> {
  const within = await quotaAdmission.clampPolicy(caller, policy ?? {});
  return async (fileName) => {
    // Tools and instructions that another request has stored do not belong to this caller.
    const name = removeToolset(fileName);
    const agent = await findAgent(name).catch(ignoreUnknownModel);
    const rights = agent ? {} : ({ gate: "strict", approvals: "deny" } as const);
    const resolved = resolvePolicy(rights, within, agent?.policy);
    return { name: agent?.name ?? name, policy: applyLimits(resolved, policyLimits) };
  };
}

function ignoreUnknownModel(thrown: unknown): undefined {
  if (!(thrown instanceof AgentError) || thrown.code !== "invalid_input") throw thrown;
}

const maxTitleLength = 1000;

/** Returns the title of an exported session without runs, which has no facts to import. */
function findEmptySession(file: string): { readonly title?: string } | undefined {
  const { format, version, facts, title = "" } = parseObject(file);
  const isFile = format === "capstan-session" && version === 1;
  const isEmpty = isFile && Array.isArray(facts) && facts.length === 0;
  if (!isEmpty || typeof title !== "string" || title.length > maxTitleLength) return undefined;
  return { title };
}

/** Returns no fields for anything but an object, which `import` then refuses. */
function parseObject(file: string): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(file);
    return isRecord(read) ? read : {};
  } catch {
    return {}; // not JSON
  }
}
