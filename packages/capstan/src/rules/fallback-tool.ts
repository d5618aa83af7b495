import type { FallbackInput } from "../agent.ts";
import { plainText } from "../history.ts";
import type { Json } from "../json.ts";
import { isRepeatable } from "../tool.ts";
import { preview } from "./limit-texts.ts";
import { refusal, unfinished } from "./refusals.ts";
import { type Decision, note, type View } from "./rule.ts";
import { toolEffect } from "./tool-calls.ts";

type FallbackAnswer =
  | { readonly type: "run"; readonly decision: Decision }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "none" };

/** The agent's last resort, run at most once: it is told what was asked and what was tried, and gives the answer. */
export function fallbackTool({ agent, run }: View, reason: string): FallbackAnswer {
  const tool = agent.fallbackTool;
  if (!tool) return { type: "none" };
  if (run.fallback?.result) {
    const { status, result } = run.fallback.result;
    const text = plainText(result).trim();
    return status === "ok" && text ? { type: "text", text } : { type: "none" };
  }
  const begun = run.fallback?.attempt ?? 0;
  const callId = `${run.id}.fallback`;
  if (begun > 0 && !isRepeatable(tool)) {
    return {
      type: "run",
      decision: note("fallback-interrupted", refusal({ id: callId, name: tool.name }, unfinished)),
    };
  }
  const tried = run.toolCalls.map((call) => ({
    tool: call.name,
    status: call.status,
    preview: preview(call),
  }));
  const input: FallbackInput = { reason, query: run.query, tried };
  const call = { callId, name: tool.name, input: input as unknown as Json };
  return {
    type: "run",
    decision: {
      type: "effects",
      effects: [{ ...toolEffect(run, tool, call), attempt: begun + 1, isFallback: true }],
    },
  };
}
