import { AgentError } from "../errors.ts";
import type { Chunk, Model, ModelRequest } from "../model.ts";
import { streamedAnswer, wholeAnswer } from "./answer-reader.ts";
import { type Circuit, type CircuitOptions, circuit } from "./circuit.ts";
import { circuitKey } from "./circuit-key.ts";
import { failedReply, networkFailure } from "./http-failure.ts";
import { type Patience, patient } from "./patience.ts";
import { post } from "./post.ts";
import type { Wire, WireSettings } from "./wire.ts";

export type HttpModelOptions = {
  readonly id: string;
  readonly wire: Wire;
  readonly settings: Omit<WireSettings, "stream">;
  /** By default true. */
  readonly stream?: boolean | undefined;
  url(stream: boolean): string;
  /** Asked for every request, so that tokens can be renewed. */
  headers(): Record<string, string> | Promise<Record<string, string>>;
  readonly fetch?: typeof fetch | undefined;
  readonly patience?: Partial<Patience> | undefined;
  /** False asks a provider that is down again and again. */
  readonly circuit?: CircuitOptions | false | undefined;
};

/** A model behind HTTP: one POST, answered by server-sent events or by JSON. What the bytes mean is the wire's business. */
export function httpModel(options: HttpModelOptions): Model {
  const { id, wire, settings, stream = true } = options;
  return {
    id,
    async *stream(
      request: ModelRequest,
      { signal }: { readonly signal: AbortSignal },
    ): AsyncGenerator<readonly Chunk[]> {
      const waiting = patient(signal, options.patience);
      let breaker: Circuit | undefined;
      try {
        const headers = await headersOf(options);
        breaker = closedCircuit(options, headers);
        const body = wire.toRequest(request, { ...settings, stream, ...roomFor(request, settings) });
        const posting = { url: options.url(stream), headers, body, signal: waiting.signal };
        const reply = await post(posting, options.fetch);
        if (reply.status < 200 || reply.status > 299) throw await failedReply(reply, wire, id);
        const answer = stream ? streamedAnswer(wire) : wholeAnswer(wire);
        let isWhole = false;
        for await (const bytes of reply.body) {
          waiting.heard();
          const batch = answer.read(bytes);
          isWhole ||= hasFinish(batch);
          if (batch.length > 0) yield batch;
        }
        const rest = answer.end();
        if (rest.length > 0) yield rest;
        isWhole ||= hasFinish(rest);
        if (isWhole) breaker?.succeeded();
        else breaker?.failed({ code: "stream_truncated" });
      } catch (thrown) {
        const failure = waiting.failure() ?? networkFailure(thrown, id, options.url(stream));
        if (!signal.aborted && failure instanceof AgentError) breaker?.failed(failure);
        throw failure;
      } finally {
        waiting.end();
      }
    },
  };
}

async function headersOf({ stream = true, headers }: HttpModelOptions): Promise<Record<string, string>> {
  const accept = stream ? "text/event-stream" : "application/json";
  return { "content-type": "application/json", accept, ...(await headers()) };
}

/** Throws while the provider is left alone: that refusal is not one more failure of it. */
function closedCircuit(options: HttpModelOptions, headers: Record<string, string>): Circuit | undefined {
  if (options.circuit === false) return undefined;
  const { id, fetch, stream = true } = options;
  const key = circuitKey({ url: options.url(stream), id, headers, fetch });
  const breaker = circuit(key, { name: id, ...options.circuit });
  breaker.assertClosed();
  return breaker;
}

function hasFinish(batch: readonly Chunk[]): boolean {
  return batch.some(({ type }) => type === "finish");
}

/** What the request asks for, unless the client allows more anyway. */
function roomFor(
  { maxOutputTokens }: ModelRequest,
  settings: HttpModelOptions["settings"],
): { maxOutputTokens?: number } {
  if (maxOutputTokens === undefined) return {};
  return { maxOutputTokens: Math.max(maxOutputTokens, settings.maxOutputTokens ?? 0) };
}
