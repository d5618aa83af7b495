import { AgentError, type ErrorCode } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { Entry } from "../kernel/history.ts";
import type { CitedSource, HostedCall } from "../kernel/hosted-tool.ts";
import type { Chunk, Model, ModelRequest, StopReason, ToolSpec, Usage } from "../kernel/model.ts";

/** One response of a scripted model. */
export type ScriptedStep = {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Calls that the provider executes, before the text. */
  readonly hosted?: readonly HostedCall[];
  /** Sources that the text cites. */
  readonly citations?: readonly CitedSource[];
  /** Generated media; `data` is base64. */
  readonly media?: readonly Omit<Extract<Chunk, { type: "media" }>, "type">[];
  /**
   * Default: `tool_calls` with calls, `end` without. `none`: the stream ends without a finish chunk, as if cut off.
   */
  readonly finish?: StopReason | "stop" | "none";
  /** Default: 10 input and 5 output tokens. `null` reports no usage. */
  readonly usage?: Usage | null;
  /** Thrown after the output of the step, instead of the end of the stream. */
  readonly error?: ErrorCode | Error;
  /** Splits text, reasoning and arguments into chunks of this many characters, or at these offsets. */
  readonly split?: number | readonly number[];
  /** Delay before the first chunk. */
  readonly delayMs?: number;
  /** Never ends after the output of the step. */
  readonly hang?: boolean;
};

/** `arguments` is raw text, for truncated or invalid JSON. */
export type ScriptedCall = {
  readonly id?: string;
  readonly name: string;
  readonly input?: Json;
  readonly arguments?: string;
};

export type ScriptedRequest = Pick<
  ModelRequest,
  "instructions" | "hosted" | "toolChoice" | "thinking" | "settings"
> & {
  readonly history: readonly Entry[];
  readonly tools: readonly ToolSpec[];
};

export interface ScriptedModel extends Model {
  /** The requests in order. */
  readonly requests: readonly ScriptedRequest[];
}

export type ScriptedOptions = {
  readonly id?: string;
  /** Whether requests are recorded. Default: true. */
  readonly record?: boolean;
  /** Implements `delayMs`. Default: real time. */
  wait?(ms: number, signal: AbortSignal): Promise<void>;
};

/** A list of steps, or a function that returns the step for a request and its index. */
export type Script = readonly ScriptedStep[] | ((request: ScriptedRequest, index: number) => ScriptedStep);

/** A model that answers from a script, one step per request, and records its requests. */
export function scriptedModel(script: Script, options: ScriptedOptions = {}): ScriptedModel {
  const { id = "scripted", record = true, wait = waitRealTime } = options;
  const requests: ScriptedRequest[] = [];
  let requestCount = 0;
  return {
    id,
    requests,
    async *stream({ instructions, history, tools, hosted, toolChoice, thinking, settings }, { signal }) {
      const request = {
        ...{ instructions, history: record ? [...history] : [], tools, toolChoice, thinking },
        ...(hosted && { hosted }),
        ...(settings && { settings }),
      };
      if (record) requests.push(request);
      const index = requestCount++;
      const step = typeof script === "function" ? script(request, index) : script[index];
      if (!step)
        throw new AgentError("model_failed", `The script has no step ${index + 1}.`, { retryable: false });
      if (step.delayMs !== undefined) await wait(step.delayMs, signal);
      for (const chunk of toStepChunks(step)) yield [chunk];
      if (step.hang) await new Promise(() => undefined);
      if (step.error)
        throw step.error instanceof Error
          ? step.error
          : new AgentError(step.error, `Scripted: ${step.error}.`);
      yield createEndChunks(step);
    },
  };
}

function* toStepChunks(step: ScriptedStep): Generator<Chunk> {
  const { text, reasoning, calls = [], media = [], hosted = [], citations = [], split } = step;
  for (const piece of splitText(reasoning, split)) yield { type: "reasoning", text: piece };
  for (const call of hosted) yield { type: "hosted", call };
  for (const piece of splitText(text, split)) yield { type: "text", text: piece };
  for (const source of citations) yield { type: "citation", source };
  for (const generated of media) yield { type: "media", ...generated };
  for (const [index, call] of calls.entries()) {
    yield { type: "call_start", index, name: call.name, ...(call.id !== undefined && { id: call.id }) };
    const written = call.arguments ?? JSON.stringify(call.input ?? {});
    for (const piece of splitText(written, split)) yield { type: "call_delta", index, text: piece };
  }
}

function createEndChunks({ calls = [], finish, usage }: ScriptedStep): Chunk[] {
  const end: Chunk[] = [];
  if (usage !== null) end.push({ type: "usage", usage: usage ?? { inputTokens: 10, outputTokens: 5 } });
  const reason = finish ?? (calls.length > 0 ? "tool_calls" : "end");
  if (reason !== "none") end.push({ type: "finish", reason });
  return end;
}

function splitText(text: string | undefined, split: ScriptedStep["split"]): string[] {
  if (!text) return [];
  if (split === undefined) return [text];
  const offsets =
    typeof split === "number"
      ? Array.from({ length: Math.ceil(text.length / split) }, (_, n) => n * split)
      : [0, ...split];
  return offsets.map((place, n) => text.slice(place, offsets[n + 1])).filter((piece) => piece !== "");
}

function waitRealTime(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
