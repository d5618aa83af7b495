import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Ask } from "./adapter.ts";
import { measure, problemOf } from "./cell.ts";
import { resultOf } from "./model/script.ts";
import { startServer } from "./rounds.ts";
import { workNamed } from "./works.ts";

const effort = { warmUpMs: 1, samples: 1, sampleMs: 1 };
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
    const cell = await measure({ peer, work: "calls", wire, origin, effort });
    expect(cell).toMatchObject({ peer, wire, work: "calls" });
    expect(cell.samples[0]).toBeGreaterThan(0);
  });
});

describe("the fake model", () => {
  const asked = (body: object) =>
    fetch(`${origin}/chat/turns-25/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ stream: true, ...body }),
    });

  it("calls the tool, and answers when all results are there", async () => {
    expect(await (await asked({})).text()).toContain('"name":"lookup"');
    const results = Array.from({ length: 25 }, (_, turn) => resultOf(`t${turn}c0`));
    expect(await (await asked({ results })).text()).toContain('"content":"The "');
  });

  it.each([
    ["a result that is missing", { results: [resultOf("t1c0")] }, "beginning of the conversation"],
    [
      "more results than calls",
      { results: [resultOf("t0c0"), resultOf("t25c0")] },
      "more results than calls",
    ],
    ["a request for a whole answer", { stream: false }, "must be streamed"],
  ])("refuses %s", async (_what, body, reason) => {
    const response = await asked(body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(reason);
  });
});

it.each([
  ["another text", { text: "No.", turns: 1 }, "All.", "The text is wrong"],
  ["another text while it came", { text: "All.", turns: 1 }, "Al", "The text heard is wrong"],
  ["too many turns", { text: "All.", turns: 2 }, "All.", "It took 2 turns"],
  ["nothing wrong", { text: "All.", turns: 1 }, "All.", undefined],
])("a run with %s does not count", (_what, outcome: Awaited<ReturnType<Ask>>, heard, problem) => {
  const found = problemOf(outcome, heard, { text: "All.", turns: 1 });
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(problem);
});

it("work that is not there is refused by name", () => {
  expect(() => workNamed("brust")).toThrow('There is no work "brust". There are: burst');
});
