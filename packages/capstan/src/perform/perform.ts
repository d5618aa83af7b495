import type { Effect, ModelEffect } from "../effect.ts";
import type { FactBody } from "../event.ts";
import { callModel } from "./call-model.ts";
import { callTool } from "./call-tool.ts";
import type { Io } from "./io.ts";
import { shortenResults } from "./shorten-results.ts";
import { summarizeHistory } from "./summarize-history.ts";
import { summarizeTurn } from "./summarize-turn.ts";

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
  const { dropTextWithCalls } = await import("./drop-text.ts");
  return dropTextWithCalls(io, (withoutText) => callModel(effect, withoutText, signal));
}
