import { createOnce } from "../../base/lazy.ts";
import { type Agent, backgroundWorkName } from "../../kernel/agent.ts";
import { defineTool, type Tool } from "../../kernel/tool.ts";

/** Manages the background work of the run. Offered to agents that can start some. Executed by `manageBackground`. */
export const getBackgroundWork: () => Tool = createOnce(() =>
  defineTool({
    name: backgroundWorkName,
    description:
      "Lists your background work, waits for it, cancels it, or reads a long result of it. Results arrive as messages by themselves; waiting is only needed if you cannot go on without them.",
    input: {
      type: "object",
      properties: {
        action: { type: "string", enum: ["list", "wait", "cancel", "read"] },
        id: {
          type: "string",
          description: "As given when the work was started. Without it, `wait` means all of it.",
        },
        reason: { type: "string", description: "Why it is cancelled." },
        from: {
          type: "integer",
          minimum: 0,
          description: "For `read`: the first character, counted from 0.",
        },
      },
      required: ["action"],
      additionalProperties: false,
    },
    effects: "none",
    reads: [],
    timeoutMs: Number.MAX_SAFE_INTEGER,
    maxResultSize: "unlimited",
    execute: () => undefined,
  }),
);

/** Whether it is the built-in tool, and not one of the agent with the same name. */
export function isBackgroundWork(tool: Tool): boolean {
  return tool.name === backgroundWorkName && tool === getBackgroundWork();
}

/** Whether the agent can start background work. */
export function hasBackgroundTools({ tools }: Agent): boolean {
  for (const { background } of tools.values()) if (background) return true;
  return false;
}
