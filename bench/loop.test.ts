import { expect, it } from "vitest";
import { problemOf, runLoop } from "./loop.ts";

it("a measured run has every turn, every call and every result", async () => {
  const result = await runLoop(5);
  expect(result).toMatchObject({ status: "done", text: "All numbers are squared.", turns: 6 });
  expect(result.toolCalls.map((call) => call.result).at(-1)).toBe("The square of 4 is 16.");
});

it("a run that went wrong is not measured", async () => {
  const result = await runLoop(3);
  expect(problemOf(result, 3)).toBeUndefined();
  expect(problemOf(result, 4)).toBe("it took 4 turns");
  expect(problemOf({ ...result, text: "" }, 3)).toBe('it ended as done with ""');
  expect(problemOf({ ...result, toolCalls: result.toolCalls.slice(1) }, 3)).toBe("it made 2 calls");
  expect(problemOf({ ...result, toolCalls: result.toolCalls.toReversed() }, 3)).toBe(
    'call 1 gave "The square of 2 is 4."',
  );
});
