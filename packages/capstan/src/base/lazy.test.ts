import { expect, it } from "vitest";
import { createLazyPattern, createOnce } from "./lazy.ts";

it("a value is created by the first call, and only by it", () => {
  let calls = 0;
  const getValue = createOnce(() => {
    calls += 1;
    return { calls };
  });
  expect(calls).toBe(0);
  expect(getValue()).toBe(getValue());
  expect(calls).toBe(1);
});

it("a creation that throws is tried again by the next call", () => {
  let calls = 0;
  const getSecond = createOnce(() => {
    calls += 1;
    if (calls === 1) throw new Error("Not yet.");
    return calls;
  });
  expect(getSecond).toThrow("Not yet.");
  expect(getSecond()).toBe(2);
});

it("a lazy pattern is one object, and is invalid when it is used, not when it is defined", () => {
  const getLetters = createLazyPattern(() => String.raw`\p{L}+`, "gu");
  expect("día 1".match(getLetters())).toEqual(["día"]);
  expect(getLetters()).toBe(getLetters());
  expect(createLazyPattern(() => "(", "u")).toThrow(SyntaxError);
});
