import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type PolicyOverrides, resolvePolicy } from "../policy.ts";
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
  it("hold for whatever it asks, and for what it does not say (A105)", () => {
    fc.assert(
      fc.property(layer, layer, (asked, given) => {
        const limits = resolvePolicyLimits(given);
        const policy = resolvePolicy(applyLimits(asked, limits));
        expect(getRank(policy.gate)).toBeLessThanOrEqual(getRank(limits.gate));
        expect(getRank(policy.approvals)).toBeLessThanOrEqual(getRank(limits.approvals));
        if (given.maxTurns) expect(getRank(policy.maxTurns)).toBeLessThanOrEqual(getRank(given.maxTurns));
        if (given.toolTimeoutMs) expect(policy.toolTimeoutMs).toBeLessThanOrEqual(given.toolTimeoutMs);
        for (const [field, limit] of Object.entries(given.budget ?? {}))
          expect(getRank(Reflect.get(policy.budget, field))).toBeLessThanOrEqual(getRank(limit));
      }),
    );
  });

  it("leave alone what is stricter or not limited", () => {
    fc.assert(
      fc.property(layer, layer, (asked, given) => {
        const limits = resolvePolicyLimits(given);
        fc.pre(checkPolicyLimits(asked, limits).length === 0);
        const [before, after] = [resolvePolicy(asked), resolvePolicy(applyLimits(asked, limits))];
        if (asked.gate) expect(after.gate).toBe(before.gate);
        if (asked.maxTurns) expect(after.maxTurns).toBe(before.maxTurns);
        expect(after.budget).toMatchObject(asked.budget ?? {});
        expect(after.retry).toEqual(before.retry);
      }),
    );
  });

  it("without a word keep the gate and the approvals at their defaults, and nothing else", () => {
    const asked: PolicyOverrides = { gate: "off", approvals: "allow", maxTurns: "unlimited" };
    expect(checkPolicyLimits(asked, resolvePolicyLimits())).toEqual([
      'policy.gate cannot be "off": the loosest that is allowed here is "default"',
      'policy.approvals cannot be "allow": the loosest that is allowed here is "ask"',
    ]);
    expect(applyLimits(asked, resolvePolicyLimits())).toEqual({
      gate: "default",
      approvals: "ask",
      maxTurns: "unlimited",
    });
    expect(applyLimits({}, resolvePolicyLimits())).toEqual({});
  });

  it("may be looser than the defaults, when whoever runs it says so", () => {
    const limits = resolvePolicyLimits({ gate: "off", approvals: "allow" });
    expect(checkPolicyLimits({ gate: "off", approvals: "allow" }, limits)).toEqual([]);
    expect(resolvePolicy(applyLimits({}, limits))).toMatchObject({ gate: "default", approvals: "ask" });
  });

  it("fill in what a budget does not say", () => {
    const limits = resolvePolicyLimits({ budget: { tokens: 1000, cost: 1 } });
    expect(applyLimits({ budget: { tokens: 10, seconds: 5 } }, limits)).toEqual({
      budget: { tokens: 10, seconds: 5, cost: 1 },
    });
    expect(checkPolicyLimits({ budget: { cost: "unlimited" } }, limits)).toEqual([
      'policy.budget.cost cannot be "unlimited": the loosest that is allowed here is 1',
    ]);
  });

  it("are refused when they are none, with the nearest name", () => {
    const limits = (given: object) => () => resolvePolicyLimits(given);
    expect(limits({ maxTurn: 3 })).toThrow(
      'Unknown field "maxTurn" of the policy limits. Did you mean "maxTurns"',
    );
    expect(limits({ thinking: "on" })).toThrow('Unknown field "thinking"');
    expect(limits({ gate: "none" })).toThrow("policy.gate cannot be");
    expect(limits({ budget: { token: 1 } })).toThrow('Did you mean "tokens"');
  });
});
