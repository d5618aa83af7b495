import { checkFields } from "../definition.ts";
import { AgentError, describeThrown } from "../errors.ts";
import { isRecord } from "../json.ts";
import { checkPolicy, defaultPolicy, mergeDefined, type PolicyOverrides } from "../policy.ts";

/** The loosest that the policy of a stored agent may be. Without a word, `gate` is limited to `default` and `approvals` to `ask`. */
export type PolicyLimits = Pick<
  PolicyOverrides,
  "gate" | "approvals" | "maxTurns" | "maxConcurrency" | "toolTimeoutMs" | "budget"
>;

type Values = { readonly [field: string]: unknown };

const limitable: readonly string[] = [
  ...["gate", "approvals", "maxTurns", "maxConcurrency", "toolTimeoutMs", "budget"],
];
const strictestFirst: Values = { gate: ["strict", "default", "off"], approvals: ["deny", "ask", "allow"] };

/** The limits in force. Throws `invalid_definition` for what is none. */
export function resolvePolicyLimits(given: PolicyLimits = {}): PolicyLimits {
  checkFields("policy limits", given, limitable);
  checkPolicy(given);
  return mergeDefined<PolicyLimits>({ gate: defaultPolicy.gate, approvals: defaultPolicy.approvals }, given);
}

/** The policy that somebody else asks for. Throws `invalid_input` for what is none, or goes beyond the limits. */
export function clampPolicy(asked: unknown, limits: PolicyLimits): PolicyOverrides {
  if (!isRecord(asked)) throw new AgentError("invalid_input", "A policy is an object.");
  try {
    checkPolicy(asked);
  } catch (thrown) {
    throw new AgentError("invalid_input", describeThrown(thrown, "invalid_input").message);
  }
  const [problem] = beyond(asked, limits);
  if (problem) throw new AgentError("invalid_input", `${problem}.`);
  return within(asked, limits);
}

/** What a policy asks for beyond its limits, in words. */
export function beyond(policy: PolicyOverrides, limits: PolicyLimits): string[] {
  return compared(policy, limits)
    .filter(({ asked, isLooser }) => asked !== undefined && isLooser)
    .map(
      ({ path, asked, limit }) =>
        `policy.${path.join(".")} cannot be ${JSON.stringify(asked)}: the loosest that is allowed here is ${JSON.stringify(limit)}`,
    );
}

/** The policy, no looser than its limits: also where it says nothing and the default would be. */
export function within(policy: PolicyOverrides, limits: PolicyLimits): PolicyOverrides {
  const limited: { [field: string]: unknown } = { ...policy };
  for (const { path, limit, isLooser } of compared(policy, limits)) {
    const [field = "", inner] = path;
    if (!isLooser) continue;
    const before = limited[field];
    limited[field] = inner === undefined ? limit : { ...(isRecord(before) && before), [inner]: limit };
  }
  return limited;
}

type Compared = {
  readonly path: readonly string[];
  readonly asked: unknown;
  readonly limit: unknown;
  /** Whether what is asked for, or the default when nothing is, goes beyond the limit. */
  readonly isLooser: boolean;
};

function compared(policy: Values, limits: Values, known: Values = defaultPolicy): Compared[] {
  return Object.entries(limits).flatMap(([field, limit]) => {
    const [asked, otherwise] = [policy[field], known[field]];
    if (limit === undefined) return [];
    if (isRecord(limit) && isRecord(otherwise)) {
      const inner = compared(isRecord(asked) ? asked : {}, limit, otherwise);
      return inner.map((each) => ({ ...each, path: [field, ...each.path] }));
    }
    const isLooser = looseness(field, asked ?? otherwise) > looseness(field, limit);
    return [{ path: [field], asked, limit, isLooser }];
  });
}

function looseness(field: string, value: unknown): number {
  const order = strictestFirst[field];
  if (Array.isArray(order)) return order.indexOf(value);
  return value === "unlimited" ? Number.POSITIVE_INFINITY : Number(value);
}
