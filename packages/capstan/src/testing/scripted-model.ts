import { AgentError, type ErrorCode } from "../errors.ts";
import type { Entry } from "../history.ts";
import type { Json } from "../json.ts";
import type { Chunk, Finish, Model, ModelRequest, ToolSpec, Usage } from "../model.ts";

/** One answer of a scripted model. */
export type ScriptedStep = {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedCall[];
  /** By default `tool_calls` with calls, `stop` without. `none`: the stream ends without one, as if cut off. */
  readonly finish?: Finish | "none";
  /** By default 10 in and 5 out; null tells none. */
  readonly usage?: Usage | null;
  /** Thrown instead of the end of the stream, after what comes before it. */
  readonly error?: ErrorCode | Error;
  /** Cuts the text, the reasoning and the arguments into pieces of so many characters, or at these places. */
  readonly split?: number | readonly number[];
  /** Waits before it speaks, on the clock it was given. */
  readonly delayMs?: number;
  /** Says all it has to say and then never ends. */
  readonly hang?: boolean;
};

/** `arguments` is raw text, for calls that are half-said or not JSON. */
export type ScriptedCall = {
  readonly id?: string;
  readonly name: string;
  readonly input?: Json;
  readonly arguments?: string;
};

export type ScriptedRequest = Pick<ModelRequest, "instructions" | "toolChoice" | "thinking"> & {
  readonly history: readonly Entry[];
  readonly tools: readonly ToolSpec[];
};

export interface ScriptedModel extends Model {
  /** What it was asked, in order. */
  readonly requests: readonly ScriptedRequest[];
}

export type ScriptedOptions = {
  readonly id?: string;
  /** Whether what it was asked is kept. */
  readonly record?: boolean;
  /** Where `delayMs` is spent. */
  wait?(ms: number, signal: AbortSignal): Promise<void>;
};

/** A step, or a function of the request and its number (from 0) that gives one. */
export type Script = readonly ScriptedStep[] | ((request: ScriptedRequest, index: number) => ScriptedStep);

/** A model that says what its script says, one step per request, and remembers what it was asked. */
export function scriptedModel(script: Script, options: ScriptedOptions = {}): ScriptedModel {
  const { id = "scripted", record = true, wait = waitRealTime } = options;
  const requests: ScriptedRequest[] = [];
  let requestCount = 0;
  return {
    id,
    requests,
    async *stream({ instructions, history, tools, toolChoice, thinking }, { signal }) {
      const request = { instructions, history: record ? [...history] : [], tools, toolChoice, thinking };
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

function* toStepChunks({ text, reasoning, calls = [], split }: ScriptedStep): Generator<Chunk> {
  for (const piece of splitText(reasoning, split)) yield { type: "reasoning", text: piece };
  for (const piece of splitText(text, split)) yield { type: "text", text: piece };
  for (const [index, call] of calls.entries()) {
    yield { type: "call_start", index, name: call.name, ...(call.id !== undefined && { id: call.id }) };
    const written = call.arguments ?? JSON.stringify(call.input ?? {});
    for (const piece of splitText(written, split)) yield { type: "call_delta", index, text: piece };
  }
}

function createEndChunks({ calls = [], finish, usage }: ScriptedStep): Chunk[] {
  const end: Chunk[] = [];
  if (usage !== null) end.push({ type: "usage", usage: usage ?? { inputTokens: 10, outputTokens: 5 } });
  const reason = finish ?? (calls.length > 0 ? "tool_calls" : "stop");
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
