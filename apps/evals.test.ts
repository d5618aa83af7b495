import { expectEval } from "capstan/evals";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import directions from "./airport/evals/directions.eval.ts";
import safety from "./files/evals/safety.eval.ts";
import questions from "./graph/evals/questions.eval.ts";
import sources from "./knowledge/evals/sources.eval.ts";
import tools from "./mcp-bridge/evals/tools.eval.ts";

beforeAll(() => void vi.stubEnv("CAPSTAN_MODEL", "offline"));
afterAll(() => void vi.unstubAllEnvs());

describe("the evals of the apps, with the offline model", () => {
  it.each(
    [directions, safety, questions, sources, tools].map((one) => [one.name, one] as const),
  )("%s", async (_name, definition) => {
    const { summary } = await expectEval(definition);
    expect(summary.scorers.every(({ cases }) => cases > 0)).toBe(true);
  });
});
