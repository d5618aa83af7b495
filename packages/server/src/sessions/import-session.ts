import type { PolicyOverrides } from "capstan";
import { clampPolicy, type PolicyLimits } from "capstan/agents";
import { sessions } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";

type Fields = Record<string, unknown>;

/**
 * Imports a session file under an id. The caller may resume its runs or run them again, so their policies are lowered
 * to the policy limits and to the remaining daily budget. Throws `rate_limited` when that is used up.
 */
export async function importSession(
  { store, policyLimits, dailyBudget }: Deployment,
  caller: Caller,
  { id, file }: { readonly id: string; readonly file: string },
): Promise<void> {
  const read = parseSessionFile(file);
  if (read && isEmptySession(read)) return store.create(id, read.title);
  const limits = await dailyBudget.clampPolicy(caller, policyLimits);
  // Invalid policies are refused by `import`.
  for (const fact of read?.facts ?? [])
    if (isFieldRecord(fact) && fact.type === "run_start" && isFieldRecord(fact.policy))
      fact.policy = lowerPolicy(fact.policy, limits);
  await sessions(store).import(read ? JSON.stringify(read) : file, id);
}

/** Replaces every policy value beyond its limit by the limit. */
function lowerPolicy(policy: Fields, { budget: limit = {}, ...others }: PolicyLimits): Fields {
  const { budget = {} } = policy;
  if (!isFieldRecord(budget)) return policy;
  const outer = Object.entries(others).map(([name, most]) =>
    clampOrLimit(pickField(policy, name), { [name]: most } as PolicyLimits),
  );
  const inner = Object.entries(limit).map(
    ([name, most]) => clampOrLimit({ budget: pickField(budget, name) }, { budget: { [name]: most } }).budget,
  );
  return Object.assign({}, policy, ...outer, { budget: Object.assign({}, budget, ...inner) });
}

function clampOrLimit(asked: Fields, limits: PolicyLimits): PolicyOverrides {
  try {
    return clampPolicy(asked, limits);
  } catch {
    return limits; // beyond the limit
  }
}

function pickField(fields: Fields, name: string): Fields {
  return fields[name] === undefined ? {} : { [name]: fields[name] };
}

type SessionFile = Fields & { readonly facts: readonly unknown[]; readonly title?: string };

/** Returns undefined for anything but a session file, which `import` then refuses. */
function parseSessionFile(file: string): SessionFile | undefined {
  try {
    const read: unknown = JSON.parse(file);
    return isFieldRecord(read) && Array.isArray(read.facts) ? (read as SessionFile) : undefined;
  } catch {
    return undefined; // not JSON
  }
}

const maxTitleLength = 1000;

function isEmptySession({ format, version, facts, title = "" }: SessionFile): boolean {
  const isFile = format === "capstan-session" && version === 1;
  return isFile && facts.length === 0 && typeof title === "string" && title.length <= maxTitleLength;
}

function isFieldRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
