import { expect, it } from "vitest";
import { defineAgent } from "../../kernel/agent.ts";
import type { ModelRequest } from "../../kernel/model.ts";
import { run } from "../../runtime/run.ts";
import { memory } from "../../stores/memory.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { createRequestReport } from "./report-request.ts";
import type { NewRequest } from "./stored-request.ts";

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

it("keeps one request per attempt of a model without a wire, in however many parts it answers", async () => {
  const store = memory();
  const model = scriptedModel([
    { text: "Cut off in the middle.", split: 3, error: "model_failed" },
    { text: "An answer in many parts.", split: 3 },
  ]);
  const { status } = await run(defineAgent({ name: "a", model }), "Go", { store, session: "s" });
  expect(status).toBe("done");
  const requests = (await store.readRequests?.("s", { last: 100 })) ?? [];
  expect(requests.map(({ turn, purpose }) => `${turn} ${purpose}`)).toEqual(["1 answer", "1 answer"]);
});
