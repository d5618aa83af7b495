import { expect, it } from "vitest";
import { mergeQuotas } from "./admin-quotas.tsx";

const none = Array.from({ length: 8 }, () => "");

it("the form changes the quotas it shows and keeps the others", () => {
  const before = { runs: { minute: 5, hour: 50 }, streams: 3, storage: 2e6 };
  const texts = ["5", "500", "", "2.5", "", "unlimited", "4", ""];
  expect(mergeQuotas(before, texts)).toEqual({
    runs: { minute: 5, hour: 50, day: 500 },
    cost: { day: 2.5 },
    concurrentRuns: "unlimited",
    streams: 3,
    storage: 4e6,
  });
});

it("an empty field removes its quota", () => {
  expect(mergeQuotas({ runs: { day: 5 }, sessions: 7, cost: "unlimited" }, none)).toEqual({});
});
