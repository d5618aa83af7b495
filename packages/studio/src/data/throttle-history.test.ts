import type { Fact } from "capstan";
import type { SessionView } from "capstan/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { throttleHistory } from "./throttle-history.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watchHistory() {
  const facts: Fact[] = [];
  let announce = () => {};
  let notifications = 0;
  const unsubscribe = throttleHistory({
    view: () => ({}) as SessionView,
    facts: () => facts,
    subscribe(listener) {
      announce = listener;
      return () => {};
    },
  })(() => notifications++);
  return {
    unsubscribe,
    add(count: number) {
      facts.push(...Array.from({ length: count }, (_, seq) => ({ seq }) as Fact));
      announce();
      return notifications;
    },
    count: () => notifications,
  };
}

it("shows the first page of a long session at once, and the rest of it a few times a second", () => {
  const history = watchHistory();
  expect(history.add(1000)).toBe(1);
  for (let batch = 0; batch < 10; batch++) expect(history.add(200)).toBe(1);
  vi.advanceTimersByTime(200);
  expect(history.count()).toBe(2);
  expect(history.add(1)).toBe(3);
});

it("shows nothing more after it was closed", () => {
  const history = watchHistory();
  history.add(1000);
  history.add(1000);
  history.unsubscribe();
  vi.advanceTimersByTime(1000);
  expect(history.count()).toBe(1);
});
