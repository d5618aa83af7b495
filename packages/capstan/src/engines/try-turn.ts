import { type Clock, rejectOnAbort } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import { parseBody } from "../features/exact-requests/parse-body.ts";
import { createRequestReport } from "../features/exact-requests/report-request.ts";
import type { ExactRequest, NewRequest, TriedTurn } from "../features/exact-requests/stored-request.ts";
import type { Agent, ModelChoice } from "../kernel/agent.ts";
import { buildParts, createMessageBuilder, readModelStream } from "../kernel/calls/message-builder.ts";
import { getCalls, getText } from "../kernel/history.ts";
import type { CallHooks } from "../kernel/io.ts";
import type { Model, ModelRequest, ToolSpec } from "../kernel/model.ts";
import { checkSettings, type ModelSettings, mergeSettings } from "../kernel/settings/settings.ts";
import { getNamedModel } from "../models/named-model.ts";
import { type RunInput, readInput } from "../runtime/input.ts";
import type { TurnRequest } from "../runtime/turn-request.ts";
import type { SecretMask } from "../secrets/mask.ts";
import { withMaskedModel } from "../secrets/masked-model.ts";

/** What differs from the request that was sent. Everything else stays. */
export type TurnChanges = {
  readonly instructions?: string;
  readonly history?: RunInput;
  readonly tools?: readonly ToolSpec[];
  /** Take precedence over the settings of the turn, field by field. */
  readonly settings?: ModelSettings;
  /** Default: the model that answered the turn. */
  readonly model?: ModelChoice;
};

type TryContext = {
  /** The turn, rebuilt from its facts. */
  readonly turn: TurnRequest;
  /** Its request as it was sent, if it is stored. */
  readonly sent: ExactRequest | undefined;
  readonly agent: Agent | undefined;
  readonly changes: TurnChanges;
  readonly hooks: CallHooks;
  readonly masking: SecretMask | undefined;
  readonly clock: Pick<Clock, "monotonic">;
  readonly signal: AbortSignal;
};

/** Calls a model once with the request of a turn and changes to it. Rejects as a model call does. */
export async function tryTurn(context: TryContext): Promise<TriedTurn> {
  const { hooks, masking, clock, signal } = context;
  const request = buildChangedRequest(context);
  const chosen = chooseModel(context);
  assertSettings(chosen, request);
  const limited = hooks.onBeforeModel?.(chosen) ?? chosen;
  const model = masking ? withMaskedModel(limited, masking) : limited;
  const message = createMessageBuilder((id, index) => id ?? `call_${index}`);
  let body = "";
  const addRequest = (sent: NewRequest) => {
    body = masking ? masking.text(sent.body) : sent.body;
  };
  const report = createRequestReport({ addRequest }, { purpose: "answer", model: model.id, request });
  const startedAt = clock.monotonic();
  await rejectOnAbort(
    readModelStream({ model, message, report, emit: () => undefined }, request, signal),
    signal,
  );
  if (message.stopReason === undefined)
    throw new AgentError("stream_truncated", "The model's answer ended before it was complete.");
  const entry = { type: "assistant", parts: buildParts(message) } as const;
  const reasoning = entry.parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])).join("");
  const { usage = { inputTokens: 0, outputTokens: 0, estimated: true } } = message;
  const answer = {
    text: getText(entry),
    ...(reasoning !== "" && { reasoning }),
    calls: getCalls(entry).map(({ name, input, raw }) => ({ name, input: raw ?? input })),
  };
  const costs = { usage, cost: usage.cost ?? 0, ms: clock.monotonic() - startedAt };
  const tried = { ...answer, ...costs, stopReason: message.stopReason, model: model.id, body };
  return masking ? { ...masking.value(tried), body } : tried;
}

/** Uses the instructions and tools that were sent, not today's. */
function buildChangedRequest({ turn, sent, changes }: TryContext): ModelRequest {
  const { request } = turn;
  const original = sent ? parseBody(sent.body) : {};
  const instructions = changes.instructions ?? original.instructions ?? request.instructions;
  const tools = changes.tools ?? original.tools ?? request.tools;
  const history = changes.history === undefined ? request.history : readInput(changes.history).entries;
  const { toolChoice, ...settings } = mergeSettings(
    changes.settings && checkSettings("run", changes.settings),
    request.settings ?? {},
  );
  const choice = toolChoice ?? request.toolChoice;
  const isOffered = typeof choice !== "object" || tools.some(({ name }) => name === choice.tool);
  const offered = isOffered ? choice : "auto";
  return {
    ...{ ...request, instructions, tools, history },
    toolChoice: tools.length === 0 ? "none" : offered === "none" && changes.tools ? "auto" : offered,
    ...(Object.keys(settings).length > 0 && { settings }),
  };
}

function chooseModel({ turn, sent, agent, changes }: TryContext): Model {
  const used = sent?.model ?? turn.model;
  const candidates = agent ? [...agent.models.main, ...agent.models.afterTools] : [];
  const getId = (choice: ModelChoice) => (typeof choice === "string" ? choice : choice.id);
  const choice = changes.model ?? candidates.find((one) => getId(one) === used) ?? candidates[0];
  if (choice === undefined)
    throw new AgentError("unknown_agent", `The agent "${turn.agent}" no longer exists. Choose a model.`);
  return typeof choice === "string" ? getNamedModel(choice) : choice;
}

function assertSettings(model: Model, { settings }: ModelRequest): void {
  const refused = settings && model.checkSettings?.(settings).find(({ isError }) => isError);
  if (refused) throw new AgentError("settings_failed", refused.message);
}
