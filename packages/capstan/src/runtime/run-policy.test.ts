import { expect, it } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { resolveRunPolicy } from "./run-policy.ts";

it("the settings of a run do not change the policy of the agent's other runs", () => {
  const agent = defineAgent({ name: "a", model: scriptedModel([]), policy: { maxTurns: 7 } });
  const before = resolveRunPolicy(agent, undefined);
  expect(before).toMatchObject({ maxTurns: 7, maxConcurrency: 8 });
  const own = { maxTurns: 2, budget: { tokens: 100 } };
  expect(resolveRunPolicy(agent, own)).toMatchObject({
    maxTurns: 2,
    budget: { tokens: 100, cost: "unlimited" },
  });
  expect(resolveRunPolicy(agent, undefined)).toEqual(before);
  expect(resolveRunPolicy(agent, { maxConcurrency: 1 })).toMatchObject({ maxTurns: 7, maxConcurrency: 1 });
});
