import type { Rule } from "./rule.ts";

/** After `done` nothing happens any more. */
export const ended: Rule = ({ run }) => (run.done ? { type: "stop", reason: "done" } : undefined);
