import type { PolicyOverrides } from "capstan";
import { clampPolicy, type PolicyLimits } from "capstan/agents";
import { sessions } from "capstan/sessions";
import type { Caller } from "../access/caller.ts";
import type { Deployment } from "../deployment.ts";

type Fields = Record<string, unknown>;

/**
 * Writes the session of a file under an id. Whoever imports it may go on with its runs, or run them again: so none of them
 * keeps a policy that the caller could not ask for now, nor a budget beyond what is left of the day. Throws `rate_limited`
 * when nothing is.
 */
export async function importFile(
  { store, policyLimits, spending }: Deployment,
  caller: Caller,
  { id, file }: { readonly id: string; readonly file: string },
): Promise<void> {
  const read = parsed(file);
  if (read && isEmpty(read)) return store.create(id, read.title);
  const limits = await spending.within(caller, policyLimits);
  // What is no policy at all is refused by whoever reads the file.
  for (const fact of read?.facts ?? [])
    if (isFields(fact) && fact.type === "run_start" && isFields(fact.policy))
      fact.policy = lowered(fact.policy, limits);
  await sessions(store).import(read ? JSON.stringify(read) : file, id);
}

/** The policy, with the limit in the place of all that goes beyond one. */
function lowered(policy: Fields, { budget: limit = {}, ...others }: PolicyLimits): Fields {
  const { budget = {} } = policy;
  if (!isFields(budget)) return policy;
  const outer = Object.entries(others).map(([name, most]) =>
    within(picked(policy, name), { [name]: most } as PolicyLimits),
  );
  const inner = Object.entries(limit).map(
    ([name, most]) => within({ budget: picked(budget, name) }, { budget: { [name]: most } }).budget,
  );
  return Object.assign({}, policy, ...outer, { budget: Object.assign({}, budget, ...inner) });
}

function within(asked: Fields, limits: PolicyLimits): PolicyOverrides {
  try {
    return clampPolicy(asked, limits);
  } catch {
    return limits; // it asks for more
  }
}

function picked(fields: Fields, name: string): Fields {
  return fields[name] === undefined ? {} : { [name]: fields[name] };
}

type Read = Fields & { readonly facts: readonly unknown[]; readonly title?: string };

/** What looks like a session; anything else is refused by whoever reads it. */
function parsed(file: string): Read | undefined {
  try {
    const read: unknown = JSON.parse(file);
    return isFields(read) && Array.isArray(read.facts) ? (read as Read) : undefined;
  } catch {
    return undefined; // not JSON
  }
}

const longestTitle = 1000;

/** A session that nothing was said in. */
function isEmpty({ format, version, facts, title = "" }: Read): boolean {
  const isFile = format === "capstan-session" && version === 1;
  return isFile && facts.length === 0 && typeof title === "string" && title.length <= longestTitle;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
