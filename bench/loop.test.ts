import { expect, it } from "vitest";
import { checkLoopResult, runLoop } from "./loop.ts";

it("a measured run has every turn, every call and every result", async () => {
  const result = await runLoop(5);
  expect(result).toMatchObject({ status: "done", text: "All numbers are squared.", turns: 6 });
  expect(result.toolCalls.map((call) => call.result).at(-1)).toBe("The square of 4 is 16.");
});

it("a failed run is rejected", async () => {
  const result = await runLoop(3);
  expect(checkLoopResult(result, 3)).toBeUndefined();
  expect(checkLoopResult(result, 4)).toBe("it took 4 turns");
  expect(checkLoopResult({ ...result, text: "" }, 3)).toBe('it ended as done with ""');
  expect(checkLoopResult({ ...result, toolCalls: result.toolCalls.slice(1) }, 3)).toBe("it made 2 calls");
  expect(checkLoopResult({ ...result, toolCalls: result.toolCalls.toReversed() }, 3)).toBe(
    'call 1 gave "The square of 2 is 4."',
  );
});
