import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunPrompt } from "./adapter.ts";
import { checkOutcome, measureCell } from "./cell.ts";
import { formatResult } from "./model/script.ts";
import { startServer } from "./rounds.ts";
import { findWork } from "./works.ts";

const effort = { warmUpMs: 1, samples: 1, sampleMs: 1, maxSamplingMs: 1 };
let server: ChildProcess;
let origin: string;

beforeAll(async () => {
  ({ server, origin } = await startServer());
});
afterAll(() => {
  server.kill();
});

describe.each(["floor", "capstan"])("%s", (peer) => {
  it.each(["chat", "responses", "anthropic", "gemini"] as const)("runs its tools on %s", async (wire) => {
    const cell = await measureCell({ peer, work: "calls", wire, origin, effort });
    expect(cell).toMatchObject({ peer, wire, work: "calls" });
    expect(cell.samples[0]).toBeGreaterThan(0);
  });
});

describe("the fake model", () => {
  const postRequest = (body: object) =>
    fetch(`${origin}/chat/turns-25/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ stream: true, ...body }),
    });

  it("calls the tool, and answers once all results are present", async () => {
    expect(await (await postRequest({})).text()).toContain('"name":"lookup"');
    const results = Array.from({ length: 25 }, (_, turn) => formatResult(`t${turn}c0`));
    expect(await (await postRequest({ results })).text()).toContain('"content":"The "');
  });

  it.each([
    ["a missing result", { results: [formatResult("t1c0")] }, "beginning of the conversation"],
    [
      "more results than calls",
      { results: [formatResult("t0c0"), formatResult("t25c0")] },
      "more results than calls",
    ],
    ["a request without streaming", { stream: false }, "must be streamed"],
  ])("refuses %s", async (_what, body, reason) => {
    const response = await postRequest(body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(reason);
  });
});

it.each([
  ["another text", { text: "No.", turns: 1 }, "All.", "Wrong text"],
  ["another streamed text", { text: "All.", turns: 1 }, "Al", "Wrong streamed text"],
  ["too many turns", { text: "All.", turns: 2 }, "All.", "It took 2 turns"],
  ["nothing wrong", { text: "All.", turns: 1 }, "All.", undefined],
])("a run with %s does not count", (_what, outcome: Awaited<ReturnType<RunPrompt>>, heard, problem) => {
  const found = checkOutcome(outcome, heard, { text: "All.", turns: 1 });
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(problem);
});

it("unknown work is refused by name", () => {
  expect(() => findWork("brust")).toThrow('Unknown work "brust". Known works: burst');
});
