import { expect, it } from "vitest";
import { findRuleProblems } from "./api-rules.ts";
import { checkedApis } from "./apis.ts";
import { findTypeProblems, type SentRequest, sendRandomRequests } from "./check-requests.ts";
import { addUnknownFields } from "./mutate-body.ts";

const seed = 20_261_116;
const countPerApi = 50;
/** Of so many requests of each API, wrong ones are made. */
const mutatedPerApi = 2;
const formats = checkedApis.filter(({ isCloud }) => !isCloud);

it("the types of the official SDKs accept every request that our clients make (S0-42, S0-43)", async () => {
  const requests = await sendRandomRequests(seed, countPerApi);
  expect(findRuleProblems(requests)).toEqual([]);
  const wrong = formats.flatMap((api) =>
    requests
      .filter((request) => request.api === api)
      .map(mutate)
      .filter(({ length }) => length >= 15 && length <= 40)
      .slice(0, mutatedPerApi)
      .flat(),
  );
  // The compiler runs once for the requests and for the proof that it finds wrong ones.
  const problems = await findTypeProblems([...requests, ...wrong]);
  const isWrong = (index: number) => index >= requests.length;
  expect(problems.filter(({ index }) => !isWrong(index)).map(({ text }) => text)).toEqual([]);
  const caught = new Set(problems.map(({ index }) => index));
  const missed = wrong.filter((_, index) => !caught.has(requests.length + index));
  expect(wrong.length).toBeGreaterThanOrEqual(formats.length * mutatedPerApi * 15);
  expect(missed.map(({ api, path }) => `${api.name} ${path}`)).toEqual([]);
});

function mutate(request: SentRequest): (SentRequest & { readonly path: string })[] {
  return addUnknownFields(request.body).map(({ body, path }) => ({ ...request, body: { ...body }, path }));
}
