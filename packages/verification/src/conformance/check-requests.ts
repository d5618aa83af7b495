import fc from "fast-check";
import { type CheckedApi, checkedApis, typePrelude } from "./apis.ts";
import { type CapturedRequest, captureRequest } from "./capture-request.ts";
import { checkTypes } from "./check-types.ts";
import { ownParts } from "./own-parts.ts";
import { createRandomRequest } from "./random-request.ts";

/** A request that a client made, and the API that it is for. */
export type SentRequest = CapturedRequest & { readonly api: CheckedApi; readonly model: string };

/** Sends random requests through the clients of the APIs. Default: all of them. */
export async function sendRandomRequests(
  seed: number,
  countPerApi: number,
  names: readonly string[] = checkedApis.map(({ name }) => name),
): Promise<SentRequest[]> {
  const request = createRandomRequest(ownParts);
  const sent: SentRequest[] = [];
  for (const api of checkedApis.filter(({ name }) => names.includes(name))) {
    const numRuns = api.isCloud ? Math.ceil(countPerApi / 5) : countPerApi;
    const cases = fc.tuple(fc.constantFrom(...api.models), fc.boolean(), request);
    for (const [model, stream, modelRequest] of fc.sample(cases, { seed, numRuns })) {
      const createModel = (fetch: typeof globalThis.fetch) => api.createModel({ model, stream, fetch });
      sent.push({ ...(await captureRequest(createModel, modelRequest)), api, model });
    }
  }
  return sent;
}

/** Returns what the SDKs' types say against the requests. `text` includes the body. */
export async function findTypeProblems(
  requests: readonly SentRequest[],
): Promise<{ readonly index: number; readonly text: string }[]> {
  const values = requests.map((request) => ({ type: request.api.getType(request), value: request.body }));
  const problems = await checkTypes(typePrelude, values);
  return problems.map(({ index, message }) => {
    const { api, model, body } = requests[index] as SentRequest;
    return { index, text: `${api.name}, ${model}: ${message}\n${JSON.stringify(body)}` };
  });
}
