import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type PolicyOverrides, resolvePolicy } from "../kernel/policy.ts";
import { applyLimits, checkPolicyLimits, resolvePolicyLimits } from "./policy-limits.ts";

const amount = fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constant("unlimited" as const));
const gate = fc.constantFrom("strict", "default", "off");
const approvals = fc.constantFrom("deny", "ask", "allow");
const layer = fc.record(
  {
    gate,
    approvals,
    maxTurns: amount,
    toolTimeoutMs: fc.integer({ min: 1, max: 100_000 }),
    budget: fc.record(
      { tokens: amount, cost: amount, seconds: amount, toolCalls: amount },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<PolicyOverrides>;

const order = ["strict", "deny", "default", "ask", "off", "allow"];
const getRank = (value: unknown) =>
  value === "unlimited" ? Infinity : typeof value === "string" ? order.indexOf(value) : Number(value);

describe("the limits of a stored agent's policy", () => {
  it("apply to all requested values and to omitted ones (A105)", () => {
    fc.assert(
      fc.property(layer, layer, (requested, configured) => {
        const limits = resolvePolicyLimits(configured);
        const policy = resolvePolicy(applyLimits(requested, limits));
        expect(getRank(policy.gate)).toBeLessThanOrEqual(getRank(limits.gate));
        expect(getRank(policy.approvals)).toBeLessThanOrEqual(getRank(limits.approvals));
        if (configured.maxTurns)
          expect(getRank(policy.maxTurns)).toBeLessThanOrEqual(getRank(configured.maxTurns));
        if (configured.toolTimeoutMs)
          expect(policy.toolTimeoutMs).toBeLessThanOrEqual(configured.toolTimeoutMs);
        for (const [field, limit] of Object.entries(configured.budget ?? {}))
          expect(getRank(Reflect.get(policy.budget, field))).toBeLessThanOrEqual(getRank(limit));
      }),
    );
  });

  it("do not change stricter or unlimited fields", () => {
    fc.assert(
      fc.property(layer, layer, (requested, configured) => {
        const limits = resolvePolicyLimits(configured);
        fc.pre(checkPolicyLimits(requested, limits).length === 0);
        const [before, after] = [resolvePolicy(requested), resolvePolicy(applyLimits(requested, limits))];
        if (requested.gate) expect(after.gate).toBe(before.gate);
        if (requested.maxTurns) expect(after.maxTurns).toBe(before.maxTurns);
        expect(after.budget).toMatchObject(requested.budget ?? {});
        expect(after.retry).toEqual(before.retry);
      }),
    );
  });

  it("by default restrict only the gate and approvals", () => {
    const requested: PolicyOverrides = { gate: "off", approvals: "allow", maxTurns: "unlimited" };
    expect(checkPolicyLimits(requested, resolvePolicyLimits())).toEqual([
      'policy.gate cannot be "off": the loosest allowed value is "default"',
      'policy.approvals cannot be "allow": the loosest allowed value is "ask"',
    ]);
    expect(applyLimits(requested, resolvePolicyLimits())).toEqual({
      gate: "default",
      approvals: "ask",
      maxTurns: "unlimited",
    });
    expect(applyLimits({}, resolvePolicyLimits())).toEqual({});
  });

  it("may be looser than the defaults if configured", () => {
    const limits = resolvePolicyLimits({ gate: "off", approvals: "allow" });
    expect(checkPolicyLimits({ gate: "off", approvals: "allow" }, limits)).toEqual([]);
    expect(resolvePolicy(applyLimits({}, limits))).toMatchObject({ gate: "default", approvals: "ask" });
  });

  it("fill in missing budget fields", () => {
    const limits = resolvePolicyLimits({ budget: { tokens: 1000, cost: 1 } });
    expect(applyLimits({ budget: { tokens: 10, seconds: 5 } }, limits)).toEqual({
      budget: { tokens: 10, seconds: 5, cost: 1 },
    });
    expect(checkPolicyLimits({ budget: { cost: "unlimited" } }, limits)).toEqual([
      'policy.budget.cost cannot be "unlimited": the loosest allowed value is 1',
    ]);
  });

  it("are rejected if invalid, with a suggested name", () => {
    const limits = (configured: object) => () => resolvePolicyLimits(configured);
    expect(limits({ maxTurn: 3 })).toThrow(
      'Unknown field "maxTurn" of the policy limits. Did you mean "maxTurns"',
    );
    expect(limits({ thinking: "on" })).toThrow('Unknown field "thinking"');
    expect(limits({ gate: "none" })).toThrow("policy.gate cannot be");
    expect(limits({ budget: { token: 1 } })).toThrow('Did you mean "tokens"');
  });
});
