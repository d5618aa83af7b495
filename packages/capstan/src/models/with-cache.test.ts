import { expect, it } from "vitest";
import { withCache } from "./with-cache.ts";

it("computes the value of a text once, and forgets the texts of a process that has many", () => {
  const computed: string[] = [];
  const measure = withCache((text) => {
    computed.push(text);
    return text.length;
  });
  expect([measure("a"), measure("bb"), measure("a")]).toEqual([1, 2, 1]);
  expect(computed).toEqual(["a", "bb"]);
  for (let n = 0; n < 1000; n++) measure(`text ${n}`);
  computed.length = 0;
  expect(measure("a")).toBe(1);
  expect(computed).toEqual(["a"]);
});
