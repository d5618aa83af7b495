import { checkFields } from "../base/definition.ts";
import { AgentError, describeThrown } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { checkPolicy, defaultPolicy, mergeDefined, type PolicyOverrides } from "../kernel/policy.ts";

/** The loosest policy a stored agent may have. By default `gate` is limited to `default` and `approvals` to `ask`. */
export type PolicyLimits = Pick<
  PolicyOverrides,
  "gate" | "approvals" | "approvalExpiresMs" | "maxTurns" | "maxConcurrency" | "toolTimeoutMs" | "budget"
>;

type Values = { readonly [field: string]: unknown };

const limitedFields: readonly string[] = [
  ...["gate", "approvals", "approvalExpiresMs"],
  ...["maxTurns", "maxConcurrency", "toolTimeoutMs", "budget"],
];
const strictness: Values = { gate: ["strict", "default", "off"], approvals: ["deny", "ask", "allow"] };

/** Fills in the default limits. Throws `invalid_definition` for invalid limits. */
export function resolvePolicyLimits(limits: PolicyLimits = {}): PolicyLimits {
  checkFields("policy limits", limits, limitedFields);
  checkPolicy(limits);
  return mergeDefined<PolicyLimits>({ gate: defaultPolicy.gate, approvals: defaultPolicy.approvals }, limits);
}

/** Validates a requested policy and applies the limits. Throws `invalid_input` if it is invalid or exceeds them. */
export function clampPolicy(policy: unknown, limits: PolicyLimits): PolicyOverrides {
  if (!isRecord(policy)) throw new AgentError("invalid_input", "The policy must be an object.");
  try {
    checkPolicy(policy);
  } catch (thrown) {
    throw new AgentError("invalid_input", describeThrown(thrown, "invalid_input").message);
  }
  const [problem] = checkPolicyLimits(policy, limits);
  if (problem) throw new AgentError("invalid_input", `${problem}.`);
  return applyLimits(policy, limits);
}

/** Returns a message for each field that exceeds its limit. */
export function checkPolicyLimits(policy: PolicyOverrides, limits: PolicyLimits): string[] {
  return compareFields(policy, limits)
    .filter(({ requested, isLooser }) => requested !== undefined && isLooser)
    .map(
      ({ path, requested, limit }) =>
        `policy.${path.join(".")} cannot be ${JSON.stringify(requested)}: the loosest allowed value is ${JSON.stringify(limit)}`,
    );
}

/** Returns the policy clamped to the limits, including fields it omits whose default is looser. */
export function applyLimits(policy: PolicyOverrides, limits: PolicyLimits): PolicyOverrides {
  const clamped: { [field: string]: unknown } = { ...policy };
  for (const { path, limit, isLooser } of compareFields(policy, limits)) {
    const [field = "", inner] = path;
    if (!isLooser) continue;
    const current = clamped[field];
    clamped[field] = inner === undefined ? limit : { ...(isRecord(current) && current), [inner]: limit };
  }
  return clamped;
}

type FieldComparison = {
  readonly path: readonly string[];
  readonly requested: unknown;
  readonly limit: unknown;
  /** True if the requested value, or else the default, exceeds the limit. */
  readonly isLooser: boolean;
};

function compareFields(policy: Values, limits: Values, defaults: Values = defaultPolicy): FieldComparison[] {
  return Object.entries(limits).flatMap(([field, limit]) => {
    const [requested, defaultValue] = [policy[field], defaults[field]];
    if (limit === undefined) return [];
    if (isRecord(limit) && isRecord(defaultValue)) {
      const inner = compareFields(isRecord(requested) ? requested : {}, limit, defaultValue);
      return inner.map((comparison) => ({ ...comparison, path: [field, ...comparison.path] }));
    }
    const isLooser = getLooseness(field, requested ?? defaultValue) > getLooseness(field, limit);
    return [{ path: [field], requested, limit, isLooser }];
  });
}

function getLooseness(field: string, value: unknown): number {
  const order = strictness[field];
  if (Array.isArray(order)) return order.indexOf(value);
  return value === "unlimited" ? Number.POSITIVE_INFINITY : Number(value);
}
