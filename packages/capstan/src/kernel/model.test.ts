import { describe, expect, it } from "vitest";
import { findAnswerProblem, getStopReason, type StopReason, toStopReason } from "./model.ts";

describe("the reason of a finish chunk", () => {
  it("is one of the union; `stop` is an alias of `end`, and anything else is `other`", () => {
    expect(toStopReason("stop")).toBe("end");
    for (const reason of ["end", "tool_calls", "length", "pause", "refusal", "other"] as const)
      expect(toStopReason(reason)).toBe(reason);
    expect(toStopReason("eos" as StopReason)).toBe("other");
    expect(toStopReason("toString" as StopReason)).toBe("other");
  });
});

describe("the stop reason of a stored message", () => {
  it("is its `stopReason`, or the `finish` of version 1, or unknown", () => {
    expect(getStopReason({ stopReason: "pause" })).toBe("pause");
    expect(getStopReason({ finish: "stop" })).toBe("end");
    expect(getStopReason({ finish: "aborted" })).toBe("aborted");
    expect(getStopReason({})).toBe("other");
  });
});

describe("an answer is whole", () => {
  const text = { hasText: true, hasCalls: false };
  const call = { hasText: false, hasCalls: true };
  const nothing = { hasText: false, hasCalls: false };
  it.each([
    ["text that ended", { stopReason: "end", ...text }, undefined],
    ["a call", { stopReason: "tool_calls", ...call }, undefined],
    ["plain text at the output limit, which can be continued", { stopReason: "length", ...text }, undefined],
    ["a pause", { stopReason: "pause", ...nothing }, undefined],
    ["an empty answer that was filtered", { stopReason: "content_filter", ...nothing }, undefined],
    ["an empty refusal", { stopReason: "refusal", ...nothing }, undefined],
    ["no end", { stopReason: undefined, ...text }, "stream_truncated"],
    ["another reason", { stopReason: "other", ...text }, "answer_incomplete"],
    ["another reason with a call", { stopReason: "other", ...call }, "answer_incomplete"],
    ["a pause with a call", { stopReason: "pause", ...call }, "answer_incomplete"],
    ["a call at the output limit", { stopReason: "length", ...call }, "output_truncated"],
    ["nothing but reasoning at the output limit", { stopReason: "length", ...nothing }, "output_truncated"],
    ["data at the output limit", { stopReason: "length", ...text, isStructured: true }, "output_truncated"],
    ["nothing", { stopReason: "end", ...nothing }, "empty_response"],
  ] as const)("or not: %s", (_what, answer, code) => {
    expect(findAnswerProblem(answer)?.code).toBe(code);
  });

  it("or the error names the provider's reason", () => {
    const problem = findAnswerProblem({ stopReason: "other", detail: "LANGUAGE", ...text });
    expect(problem?.message).toBe(
      'The model stopped with the reason "LANGUAGE" before its answer was complete.',
    );
  });
});
