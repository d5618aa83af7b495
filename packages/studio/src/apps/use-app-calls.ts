import type { Json } from "capstan";
import type { CallView, SessionView } from "capstan/client";
import { useEffect, useRef } from "react";
import { useOpenSession } from "../data/open-session.ts";
import type { ToolResult } from "./app-bridge.ts";
import { type AppPlace, startAppCall } from "./apps-client.ts";
import { toErrorResult, toToolResult } from "./to-tool-result.ts";

const openStates: ReadonlySet<CallView["state"]> = new Set(["said", "asking", "running"]);

/** Returns a function that makes a call of an app: a run of the session, whose result is in the session's view. */
export function useAppCalls(place: AppPlace): (tool: string, input: Json) => Promise<ToolResult> {
  const view = useOpenSession(place.sessionId)?.view;
  const waiting = useRef(new Map<string, (result: ToolResult) => void>());
  const latest = useRef(view);
  latest.current = view;
  useEffect(() => {
    if (view) settle(view, waiting.current);
  }, [view]);
  return async (tool, input) => {
    const runId = await startAppCall(place, tool, input);
    const { promise, resolve } = Promise.withResolvers<ToolResult>();
    waiting.current.set(runId, resolve);
    // The run may have ended already.
    if (latest.current) settle(latest.current, waiting.current);
    return promise;
  };
}

function settle({ entries, runs }: SessionView, waiting: Map<string, (result: ToolResult) => void>): void {
  for (const [runId, resolve] of waiting) {
    const entry = entries.find((each) => each.type === "assistant" && each.runId === runId);
    const call = entry?.type === "assistant" ? entry.calls[0] : undefined;
    const end = runs.get(runId)?.end;
    if (call && !openStates.has(call.state)) resolve(toToolResult(call));
    else if (end) resolve(toErrorResult(end.error?.message ?? "The call was not made."));
    else continue;
    waiting.delete(runId);
  }
}
