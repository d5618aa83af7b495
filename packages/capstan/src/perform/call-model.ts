import type { ModelEffect } from "../effect.ts";
import { describeThrown, type ErrorData, errorData } from "../errors.ts";
import type { FactBody } from "../event.ts";
import { type AssistantEntry, getText } from "../history.ts";
import type { Model } from "../model.ts";
import type { State } from "../state/state.ts";
import { type Assembly, addChunk, assembly, partsOf } from "./assemble.ts";
import { checkCalls } from "./check-calls.ts";
import { type Citing, citingFor } from "./citations/citing.ts";
import { agentOf, type Io } from "./io.ts";
import { listen } from "./listen.ts";
import { readOutput } from "./read-output.ts";
import { requestFor } from "./request.ts";
import { isDeadline, untilAborted } from "./until-aborted.ts";
import { usageOf } from "./usage.ts";

/** One conversation with a model: who is asked, for what, and what it has said so far. */
type Asking = {
  readonly effect: ModelEffect;
  readonly io: Io;
  readonly model: Model;
  readonly message: Assembly;
  /** Of a run that cites. */
  readonly citing: Citing | undefined;
  readonly startedAt: number;
};

/** Asks the model once: streams what it says, and gives its finished message or why there is none. */
export async function callModel(
  effect: ModelEffect,
  io: Io,
  signal: AbortSignal,
): Promise<readonly FactBody[]> {
  const agent = agentOf(effect.agent, io);
  const models = agent.models[effect.chain];
  const choice = models[effect.candidate] ?? models[0];
  const model = io.modelOf(choice);
  const message = assembly(namingCalls(effect.turn, io.state));
  // An answer with a form is data: a list of numbers in it is no citation.
  const citing = agent.output ? undefined : citingFor(io.state);
  const asking: Asking = { effect, io, model, message, citing, startedAt: io.clock.now() };
  try {
    // What ignores its signal is left behind: a model, instructions, a repair.
    return await untilAborted(answerTo(asking, signal), signal);
  } catch (thrown) {
    if (signal.aborted && !isDeadline(signal)) return partialMessage(asking);
    return failure(asking, describeThrown(signal.aborted ? signal.reason : thrown, "model_failed"));
  }
}

/**
 * A provider's id is kept while it is new to the session; a call without one is named after its place. Nested runs go on
 * side by side, so the ids of each begin with the call that it answers.
 */
function namingCalls(turn: number, { callIds: used, run }: State): Assembly["nameCall"] {
  const taken = new Set<string>();
  const inside = run?.above ? `${run.above.callId}.` : "";
  return (providerId, index) => {
    const wanted = inside + (providerId || `call_${turn}_${index}`);
    let id = wanted;
    for (let count = 2; used.has(id) || taken.has(id); count++) id = `${wanted}~${count}`;
    taken.add(id);
    return id;
  };
}

async function answerTo(asking: Asking, signal: AbortSignal): Promise<readonly FactBody[]> {
  const { effect, io, model, message, citing } = asking;
  await listen({ model, message, citing, emit: io.emit }, await requestFor(effect, io), signal);
  const problem = problemOf(message);
  return problem ? failure(asking, problem) : finishedMessage(asking);
}

/** Why a stream that has ended is not a message, so that nothing half-said is ever used. */
function problemOf({ finish, calls, hasText }: Assembly): ErrorData | undefined {
  if (finish === undefined)
    return errorData("stream_truncated", "The model's answer broke off before its end.");
  if (finish === "length" && calls.size > 0) {
    return errorData(
      "output_truncated",
      "The model reached its output limit in the middle of a tool call; the call was not made.",
    );
  }
  if (finish === "other" && calls.size > 0) {
    return errorData(
      "model_failed",
      "The model stopped for an unknown reason; its tool calls were not made.",
    );
  }
  if (!hasText && calls.size === 0 && finish !== "content_filter") {
    return errorData("empty_response", "The model gave neither text nor a tool call.");
  }
  return undefined;
}

function failure({ effect, io, model, message }: Asking, error: ErrorData): readonly FactBody[] {
  if (message.open.length > 0) io.emit({ type: "message_restart", reason: error.code });
  return [
    {
      type: "model_failed",
      model: model.id,
      candidate: effect.candidate,
      attempts: 1,
      hadMoreRoom: effect.hasMoreRoom,
      error,
    },
  ];
}

async function finishedMessage({
  effect,
  io,
  model,
  message,
  citing,
  startedAt,
}: Asking): Promise<readonly FactBody[]> {
  const { finish = "other" } = message;
  const agent = agentOf(effect.agent, io);
  // A filtered answer's calls are not to be trusted; its words are kept.
  const said = partsOf(message).filter((part) => finish !== "content_filter" || part.type !== "call");
  const { parts, checks, repairs } = await checkCalls(said, agent, io);
  const entry: AssistantEntry = { type: "assistant", parts };
  const output =
    agent.output && message.calls.size === 0 ? await readOutput(getText(entry), agent.output) : undefined;
  const { usage, warnings } = usageOf(message, io.state);
  const ms = io.clock.now() - startedAt;
  const about = { model: model.id, usage, ms, finish, ...(checks && { checks }), ...(output && { output }) };
  return [
    { type: "message", entry, ...about, ...citing?.found() },
    ...repairs,
    ...warnings,
    ...(citing?.warnings() ?? []),
  ];
}

/** What had been said when the run was cancelled: words only, for nothing else of it is whole. */
function partialMessage({ io, model, message, citing, startedAt }: Asking): readonly FactBody[] {
  if (citing) addChunk(message, { type: "text", text: citing.rest() });
  if (!message.hasText) return [];
  const parts = message.open.filter((part) => part.type === "text");
  const { usage, warnings } = usageOf(message, io.state);
  const ms = io.clock.now() - startedAt;
  const entry: AssistantEntry = { type: "assistant", parts };
  return [
    { type: "message", entry, model: model.id, usage, ms, finish: "aborted", ...citing?.found() },
    ...warnings,
    ...(citing?.warnings() ?? []),
  ];
}
