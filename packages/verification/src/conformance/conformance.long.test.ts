import { expect, it } from "vitest";
import { findRuleProblems } from "./api-rules.ts";
import { findTypeProblems, sendRandomRequests } from "./check-requests.ts";

const rounds = 10;
const countPerApi = 250;

it("thousands of random requests have the types of the official SDKs (S0-42, S0-43)", async () => {
  const start = Math.floor(Math.random() * 1e9);
  for (let round = 0; round < rounds; round += 1) {
    const requests = await sendRandomRequests(start + round, countPerApi);
    const problems = await findTypeProblems(requests);
    const texts = [...problems.map(({ text }) => text), ...findRuleProblems(requests)];
    expect(texts, `seed ${start + round}`).toEqual([]);
  }
});
