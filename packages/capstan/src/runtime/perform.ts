import { shortenResults } from "../features/compaction/shorten-results.ts";
import { summarizeHistory } from "../features/compaction/summarize-history.ts";
import { summarizeTurn } from "../features/turn-summaries/summarize-turn.ts";
import type { Effect, ModelEffect } from "../kernel/effect.ts";
import type { FactBody } from "../kernel/event.ts";
import type { Io } from "../kernel/io.ts";
import { callModel } from "./call-model.ts";
import { callTool } from "./call-tool.ts";

/**
 * Performs one effect and returns the resulting facts. Side effects happen only here. Failures of models and tools become
 * facts; rejects only for an unknown agent or when the store fails.
 */
export function perform(effect: Effect, io: Io, signal: AbortSignal): Promise<readonly FactBody[]> {
  switch (effect.type) {
    case "model":
      if (io.state.run?.policy.textWithCalls === "drop") return callWithoutText(effect, io, signal);
      return callModel(effect, io, signal);
    case "tool":
      return callTool(effect, io, signal);
    case "summary":
      return summarizeHistory(effect, io, signal);
    case "shorten":
      return shortenResults(effect, io);
    case "turn_summary":
      return summarizeTurn(effect, io, signal);
    case "note":
      return Promise.resolve(effect.facts);
  }
}

async function callWithoutText(
  effect: ModelEffect,
  io: Io,
  signal: AbortSignal,
): Promise<readonly FactBody[]> {
  const { dropTextWithCalls } = await import("../features/answers/drop-text.ts");
  return dropTextWithCalls(io, (withoutText) => callModel(effect, withoutText, signal));
}
