import { createParser, type EventSourceMessage } from "eventsource-parser";
import { AgentError } from "../errors.ts";
import type { Chunk, Model, ModelRequest } from "../model.ts";
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
      try {
        const response = await post(
          options,
          wire.toRequest(request, { ...settings, stream }),
          waiting.signal,
        );
        if (!response.ok) throw await failedResponse(response, wire, id);
        if (stream && response.body) yield* streamed(response.body, wire, waiting.heard);
        else yield wire.fromJson(await json(response));
      } catch (thrown) {
        throw waiting.failure() ?? networkFailure(thrown, id, options.url(stream));
      } finally {
        waiting.end();
      }
    },
  };
}

async function post(options: HttpModelOptions, body: string, signal: AbortSignal): Promise<Response> {
  const { stream = true } = options;
  // Looked up at each call, so that a global `fetch` replaced later is used.
  const send = options.fetch ?? fetch;
  const accept = stream ? "text/event-stream" : "application/json";
  const headers = { "content-type": "application/json", accept, ...(await options.headers()) };
  return send(options.url(stream), { method: "POST", headers, body, signal, redirect: "error" });
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
