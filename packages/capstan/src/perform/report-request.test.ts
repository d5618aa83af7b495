import { expect, it } from "vitest";
import type { ModelRequest } from "../model.ts";
import type { NewRequest } from "../requests/stored-request.ts";
import { createRequestReport } from "./report-request.ts";

const request: ModelRequest = {
  instructions: "Help.",
  history: [{ type: "user", content: "Hi" }],
  tools: [],
  toolChoice: "auto",
  thinking: false,
};

it("reports the parts of a request that the client does not report, so that it need not be compared", () => {
  const added: NewRequest[] = [];
  const call = { purpose: "answer", model: "m", request } as const;
  const report = createRequestReport({ addRequest: (one) => void added.push(one) }, call);
  report?.onAnswer();
  const [{ body = "", parts } = {}] = added;
  expect(JSON.parse(body)).toEqual(request);
  expect(`${parts?.head}${parts?.history.text}${parts?.tail}`).toBe(body);
});
