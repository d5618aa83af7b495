import type { CallView, SessionView } from "capstan/client";

/**
 * Returns a value that changes when a nested run of the calls does, also one inside of it: all views while one of these
 * runs is open, and the position of their last facts after that.
 */
export function getNestedKey(calls: readonly CallView[], nested: SessionView["nested"]): unknown {
  const views = calls.flatMap(({ id }) => nested.get(id) ?? []);
  const isOpen = views.some(({ status }) => status === "running" || status === "waiting");
  return isOpen ? nested : views.reduce((sum, { seq }) => sum + seq, 0);
}
