import { createParser, type EventSourceMessage } from "eventsource-parser";
import { AgentError } from "../errors.ts";
import type { Chunk, Model, ModelRequest } from "../model.ts";
import { type Circuit, type CircuitOptions, circuit } from "./circuit.ts";
import { circuitKey } from "./circuit-key.ts";
import { failedResponse, networkFailure } from "./http-failure.ts";
import { type Patience, patient } from "./patience.ts";
import type { Wire, WireSettings } from "./wire.ts";

/** Larger pieces of a stream are refused before they fill the memory. */
const mostCharactersPerEvent = 8_000_000;

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
        const response = await post(options, { headers, body, signal: waiting.signal });
        if (!response.ok) throw await failedResponse(response, wire, id);
        let isWhole = false;
        const answer = stream && response.body ? streamed(response.body, wire, waiting.heard) : undefined;
        for await (const batch of answer ?? [wire.fromJson(await json(response))]) {
          isWhole ||= batch.some(({ type }) => type === "finish");
          yield batch;
        }
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

type Post = {
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
};

function post(options: HttpModelOptions, init: Post): Promise<Response> {
  // Looked up at each call, so that a global `fetch` replaced later is used.
  const send = options.fetch ?? fetch;
  return send(options.url(options.stream ?? true), { method: "POST", redirect: "error", ...init });
}

async function json(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (cause) {
    throw new AgentError("bad_chunk", "The provider's answer is not JSON.", { cause });
  }
}

/** Each read from the network becomes one batch of chunks, parsed at once: no promise per token. */
async function* streamed(
  body: ReadableStream<Uint8Array>,
  wire: Wire,
  heard: () => void,
): AsyncGenerator<readonly Chunk[]> {
  const events = wire.reader();
  const decoder = new TextDecoder();
  let batch: Chunk[] = [];
  const parser = createParser({
    onEvent: ({ event, data }: EventSourceMessage) => {
      for (const chunk of events.read({ event, data })) batch.push(chunk);
    },
    maxBufferSize: mostCharactersPerEvent,
    onError(cause) {
      if (cause.type === "max-buffer-size-exceeded")
        throw new AgentError("chunk_too_large", "One piece of the stream is larger than 8 MB.", { cause });
    },
  });
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      heard();
      parser.feed(done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true }));
      if (batch.length > 0) {
        yield batch;
        batch = [];
      }
      if (done) return;
    }
  } finally {
    // Not awaited: a connection that hangs would hang here too.
    reader.cancel().catch(() => undefined);
  }
}

/** What the request asks for, unless the client allows more anyway. */
function roomFor(
  { maxOutputTokens }: ModelRequest,
  settings: HttpModelOptions["settings"],
): { maxOutputTokens?: number } {
  if (maxOutputTokens === undefined) return {};
  return { maxOutputTokens: Math.max(maxOutputTokens, settings.maxOutputTokens ?? 0) };
}
