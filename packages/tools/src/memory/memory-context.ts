import { AgentError, type Provenance, type ToolContext } from "capstan";
import type { MemoryOwner } from "capstan/memories";
import { getScope } from "capstan/sessions";

/**
 * Which memories an agent has: those that all agents of the user share, its own about this user, or those of a project
 * that the application names. Each is separate for every user.
 */
export type MemoryScope = "user" | "agent" | { readonly project: string };

/** What a call of a memory tool works on. None of it comes from the model. */
export type MemoryContext = {
  readonly records: NonNullable<ToolContext["records"]>;
  readonly owner: MemoryOwner;
  readonly provenance: Provenance;
  readonly idempotencyKey: string;
  readonly sessionId: string;
  readonly now: number;
};

export function toMemoryContext(scope: MemoryScope, context: ToolContext): MemoryContext {
  const { records, agent = "", provenance = "external", idempotencyKey, sessionId } = context;
  if (!records) {
    const message = "The memory tools need the store of the run: call them in a run.";
    throw new AgentError("tool_failed", message, { retryable: false });
  }
  const owner = { user: getScope(sessionId), scope: toScopeName(scope, agent) };
  return { records, owner, provenance, idempotencyKey, sessionId, now: Date.now() };
}

function toScopeName(scope: MemoryScope, agent: string): string {
  if (typeof scope === "object") return `project:${scope.project}`;
  return scope === "agent" ? `agent:${agent}` : "user";
}
