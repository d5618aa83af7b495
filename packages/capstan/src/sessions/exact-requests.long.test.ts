import fc from "fast-check";
import { it } from "vitest";
import { memory } from "../stores/memory.ts";
import { checkRequests, requestPlans } from "../testing/request-plan.ts";

it("stored requests equal the bytes that the provider got, over many random runs", async () => {
  const check = fc.asyncProperty(requestPlans, async (plan) => {
    const store = memory();
    await checkRequests(plan, () => ({ ...store, close: async () => undefined }));
  });
  await fc.assert(check, { numRuns: 400 });
}, 600_000);
