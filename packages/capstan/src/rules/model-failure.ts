import { triedSoFar } from "./limit-texts.ts";
import { modelEffect } from "./model-effect.ts";
import { done, note, type Rule } from "./rule.ts";

/** A turn without its message: ask the next model of the chain, or the same one again after a crash, or fail. */
export const modelFailure: Rule = (view) => {
  const { agent, run } = view;
  const { round } = run;
  if (!round || round.message) return undefined;
  const { turn, tools, notes } = round;
  const candidate = round.failure ? round.failure.candidate + 1 : 0;
  if (candidate < agent.models.length) {
    return { type: "effects", effects: [modelEffect(view, { turn, tools, notes, candidate })] };
  }
  const error = round.failure?.error ?? {
    code: "model_failed",
    message: "The model gave no answer.",
    retryable: true,
  };
  const text = [`The model could not answer: ${error.message}`, ...triedSoFar(run)].join("\n\n");
  return note(
    "failure",
    { type: "turn_end", turn, usage: round.usage },
    { type: "error", ...error },
    done(run, { status: "failed", text, error }),
  );
};
