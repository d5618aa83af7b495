import { defaultPolicy } from "capstan";
import { describe, expect, it } from "vitest";
import {
  computeChanges,
  differsFromDefault,
  getRemainingPolicy,
  getValueAt,
  policyGroups,
  toPolicyDraft,
} from "./policy-fields.ts";

const policy = { ...defaultPolicy, maxTurns: 4, budget: { ...defaultPolicy.budget, tokens: 900 } };

describe("the fields of a policy", () => {
  it("cover the whole policy, each part once", () => {
    const fields = policyGroups.flatMap((group) => group.fields);
    for (const { path } of fields) expect(getValueAt(defaultPolicy, path), path).toBeDefined();
    expect(new Set(fields.map(({ path }) => path)).size).toBe(fields.length);
    const known = new Set([
      ...fields.map(({ path }) => path.split(".")[0]),
      ...Object.keys(getRemainingPolicy(policy)),
    ]);
    expect(known).toEqual(new Set(Object.keys(defaultPolicy)));
  });

  it("show durations with their units, exactly, and read them back", () => {
    const odd = { ...policy, toolTimeoutMs: 1500, retry: { ...policy.retry, baseMs: 0, maxMs: 90_000 } };
    const draft = toPolicyDraft(odd);
    expect(draft.fields).toMatchObject({
      ...{ approvalExpiresMs: "24 h", toolTimeoutMs: "1500 ms", "retry.baseMs": "0", "retry.maxMs": "90 s" },
    });
    expect(computeChanges(odd, draft)).toEqual({ changes: {} });
    const change = (text: string) =>
      computeChanges(odd, { ...draft, fields: { ...draft.fields, approvalExpiresMs: text } });
    expect(["48 h", "1.5min", "unlimited", "0"].map(change)).toEqual(
      [172_800_000, 90_000, "unlimited", 0].map((approvalExpiresMs) => ({ changes: { approvalExpiresMs } })),
    );
    expect(change("86400000")).toEqual({
      problem: "“Approvals expire after” must be a time such as 500 ms, 30 s, 10 min or 24 h, or unlimited.",
    });
  });

  it("mark values that differ from the default", () => {
    expect([
      differsFromDefault(policy, "maxTurns"),
      differsFromDefault(policy, "budget.tokens"),
      differsFromDefault(policy, "gate"),
    ]).toEqual([...[true, true, false]]);
  });

  it("return only the changes, and name invalid fields", () => {
    const draft = toPolicyDraft(policy);
    expect(computeChanges(policy, draft)).toEqual({ changes: {} });
    const fields = { ...draft.fields, maxTurns: "unlimited", "budget.cost": "0.5", summaries: "true" };
    const rest = draft.rest
      .replace('"memory": "session"', '"memory": "run"')
      .replace('"jitter": 0', '"jitter": 1');
    expect(computeChanges(policy, { fields: { ...fields, "retry.baseMs": "5 ms" }, rest })).toEqual({
      changes: {
        ...{ maxTurns: "unlimited", budget: { cost: 0.5 }, summaries: true, memory: "run" },
        retry: { baseMs: 5, jitter: 1 },
      },
    });
    expect(computeChanges(policy, { ...draft, fields: { ...draft.fields, wrapUpAt: "soon" } })).toEqual({
      problem: "“Wrap-up turns” must be 0 or more.",
    });
    expect(computeChanges(policy, { ...draft, rest: "[" })).toEqual({
      problem: "“Other settings” must be a JSON object.",
    });
  });
});
