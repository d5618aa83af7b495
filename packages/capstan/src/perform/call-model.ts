import type { ModelEffect } from "../effect.ts";
import { describeThrown, type ErrorData, errorData } from "../errors.ts";
import type { DeltaBody, FactBody } from "../event.ts";
import { type AssistantEntry, textOf } from "../history.ts";
import type { Chunk, Model, ModelRequest } from "../model.ts";
import { type Assembly, addChunk, assembly, partsOf } from "./assemble.ts";
import { checkCalls } from "./check-calls.ts";
import { agentOf, type Io } from "./io.ts";
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
  readonly startedAt: number;
};

/** Asks the model once: streams what it says, and gives its finished message or why there is none. */
export async function callModel(
  effect: ModelEffect,
  io: Io,
  signal: AbortSignal,
): Promise<readonly FactBody[]> {
  const models = agentOf(effect.agent, io).models[effect.chain];
  const choice = models[effect.candidate] ?? models[0];
  const model = io.modelOf(choice);
  const message = assembly(namingCalls(effect.turn, io.state.callIds));
  const asking: Asking = { effect, io, model, message, startedAt: io.clock.now() };
  try {
    // What ignores its signal is left behind: a model, instructions, a repair.
    return await untilAborted(answerTo(asking, signal), signal);
  } catch (thrown) {
    if (signal.aborted && !isDeadline(signal)) return partialMessage(asking);
    return failure(asking, describeThrown(signal.aborted ? signal.reason : thrown, "model_failed"));
  }
}

/** A provider's id is kept while it is new to the session; a call without one is named after its place. */
function namingCalls(turn: number, used: ReadonlySet<string>): Assembly["nameCall"] {
  const taken = new Set<string>();
  return (providerId, index) => {
    const wanted = providerId || `call_${turn}_${index}`;
    let id = wanted;
    for (let count = 2; used.has(id) || taken.has(id); count++) id = `${wanted}~${count}`;
    taken.add(id);
    return id;
  };
}

async function answerTo(asking: Asking, signal: AbortSignal): Promise<readonly FactBody[]> {
  await listen(asking, await requestFor(asking.effect, asking.io), signal);
  const problem = problemOf(asking.message);
  return problem ? failure(asking, problem) : finishedMessage(asking);
}

async function listen(asking: Asking, request: ModelRequest, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const reader = asking.model.stream(request, { signal })[Symbol.asyncIterator]();
  const leave = () => {
    Promise.resolve(reader.return?.()).catch(() => undefined); // not awaited: a stream that hangs would hang here too
  };
  signal.addEventListener("abort", leave, { once: true });
  try {
    for (;;) {
      const read = await reader.next();
      signal.throwIfAborted();
      if (read.done) return;
      hear(read.value, asking);
    }
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** A delta that still grows. */
type Piece = Extract<DeltaBody, { delta: string }> & { delta: string };

/** Adds what one read said to the message and tells it, with neighbouring pieces of the same kind made one. */
function hear(batch: readonly Chunk[], { message, io }: Asking): void {
  let open: Piece | undefined;
  for (const chunk of batch) {
    addChunk(message, chunk);
    const piece = pieceOf(chunk, message);
    if (open && piece && open.type === piece.type && callOf(open) === callOf(piece)) {
      open.delta += piece.delta;
    } else if (piece || chunk.type === "restart") {
      if (open) io.emit(open);
      open = piece;
    }
    if (chunk.type === "restart") io.emit({ type: "message_restart", reason: chunk.reason });
  }
  if (open) io.emit(open);
}

function pieceOf(chunk: Chunk, message: Assembly): Piece | undefined {
  if (chunk.type === "text" && chunk.text) return { type: "content_delta", delta: chunk.text };
  if (chunk.type === "reasoning" && chunk.text) return { type: "reasoning_delta", delta: chunk.text };
  if (chunk.type !== "call_start" && chunk.type !== "call_delta") return undefined;
  const call = message.calls.get(chunk.index);
  const delta = chunk.type === "call_delta" ? chunk.text : "";
  return call && { type: "tool_call_delta", id: call.id, name: call.name, delta };
}

function callOf(piece: Piece): string | undefined {
  return piece.type === "tool_call_delta" ? piece.id : undefined;
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
  startedAt,
}: Asking): Promise<readonly FactBody[]> {
  const { finish = "other" } = message;
  const agent = agentOf(effect.agent, io);
  // A filtered answer's calls are not to be trusted; its words are kept.
  const said = partsOf(message).filter((part) => finish !== "content_filter" || part.type !== "call");
  const { parts, checks, repairs } = await checkCalls(said, agent, io);
  const entry: AssistantEntry = { type: "assistant", parts };
  const output =
    agent.output && message.calls.size === 0 ? await readOutput(textOf(entry), agent.output) : undefined;
  const { usage, warnings } = usageOf(message, io.state);
  const ms = io.clock.now() - startedAt;
  const about = { model: model.id, usage, ms, finish, ...(checks && { checks }), ...(output && { output }) };
  return [{ type: "message", entry, ...about }, ...repairs, ...warnings];
}

/** What had been said when the run was cancelled: words only, for nothing else of it is whole. */
function partialMessage({ io, model, message, startedAt }: Asking): readonly FactBody[] {
  if (!message.hasText) return [];
  const parts = message.open.filter((part) => part.type === "text");
  const { usage, warnings } = usageOf(message, io.state);
  const ms = io.clock.now() - startedAt;
  return [
    { type: "message", entry: { type: "assistant", parts }, model: model.id, usage, ms, finish: "aborted" },
    ...warnings,
  ];
}
