import { AgentError } from "../errors.ts";
import type { Chunk, Model, ModelRequest, Usage } from "../model.ts";
import { type Circuit, type CircuitOptions, circuit, circuitKey } from "./circuit.ts";
import { failedReply, networkFailure } from "./http-failure.ts";
import { patient, type Timeouts, type Waiting } from "./idle-timer.ts";
import { post } from "./post.ts";
import type { Priced, PriceList } from "./pricing.ts";
import { type BatchQueue, batchQueue, streamedAnswer, wholeAnswer } from "./stream-reader.ts";
import type { Wire, WireSettings } from "./wire.ts";

/** What every client of a provider takes. */
export type ClientOptions = Omit<WireSettings, "stream"> & {
  /** By default from the environment, under the provider's own name for it. */
  readonly apiKey?: string;
  readonly baseURL?: string;
  /** In place of the global one: for tests, proxies and tracing. */
  readonly fetch?: typeof fetch;
  /** Sent along with every request. */
  readonly headers?: { readonly [name: string]: string };
  /** False asks for whole answers. */
  readonly stream?: boolean;
  readonly timeouts?: Partial<Timeouts>;
  /** When a provider that keeps failing is left alone for a while; false: never. */
  readonly circuit?: CircuitOptions | false;
  /** In US dollars per million tokens, by `provider/model`. They go before the known ones. */
  readonly prices?: PriceList;
};

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
  /** Adds the cost to what was used. */
  readonly price?: Priced | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** False asks a provider that is down again and again. */
  readonly circuit?: CircuitOptions | false | undefined;
};

/** A model behind HTTP: one POST, answered by server-sent events or by JSON. What the bytes mean is the wire's business. */
export function httpModel(options: HttpModelOptions): Model {
  return {
    id: options.id,
    stream(request, { signal }) {
      const waiting = patient(signal, options.timeouts);
      const said = batchQueue(waiting.abandon);
      converse(options, { request, waiting, said }).then(
        () => said.end(),
        (error) => said.end(error),
      );
      return said;
    },
  };
}

type Conversation = {
  readonly request: ModelRequest;
  readonly waiting: Waiting;
  readonly said: BatchQueue;
};

async function converse(options: HttpModelOptions, conversation: Conversation): Promise<void> {
  const { id, wire, settings, stream = true } = options;
  const { request, waiting, said } = conversation;
  const seen: Seen = { isWhole: false, usage: undefined };
  let breaker: Circuit | undefined;
  try {
    const headers = await headersOf(options);
    breaker = closedCircuit(options, headers);
    const body = wire.toRequest(request, { ...settings, stream, ...roomFor(request, settings) });
    const posting = { url: options.url(stream), headers, body, signal: waiting.signal };
    const reply = await post(posting, options.fetch);
    if (reply.status < 200 || reply.status > 299) throw await failedReply(reply, wire, id);
    const answer = stream ? streamedAnswer(wire) : wholeAnswer(wire);
    await reply.read((bytes) => {
      waiting.heard();
      said.push(noted(answer.read(bytes), seen));
    });
    said.push(noted(answer.end(), seen));
    said.push(await usageIn(seen, options));
    if (seen.isWhole) breaker?.succeeded();
    else breaker?.failed({ code: "stream_truncated" });
  } catch (thrown) {
    // What a broken answer has used is paid for too.
    said.push(await usageIn(seen, options));
    const isAborted = waiting.signal.aborted && !waiting.failure();
    const failure = waiting.failure() ?? networkFailure(thrown, id, options.url(stream));
    // Whoever aborts it says nothing about the provider.
    if (!isAborted && failure instanceof AgentError) breaker?.failed(failure);
    throw failure;
  } finally {
    waiting.end();
  }
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

/** What is known of an answer by now. Figures are totals, and some providers tell them with every piece: the last ones count. */
type Seen = { isWhole: boolean; usage: Usage | undefined };

/** The batch without the figures of usage, which are told once, at the end. */
function noted(batch: readonly Chunk[], seen: Seen): readonly Chunk[] {
  let hasUsage = false;
  for (const chunk of batch) {
    if (chunk.type === "finish") seen.isWhole = true;
    if (chunk.type !== "usage") continue;
    seen.usage = chunk.usage;
    hasUsage = true;
  }
  return hasUsage ? batch.filter(({ type }) => type !== "usage") : batch;
}

async function usageIn({ usage }: Seen, { price }: HttpModelOptions): Promise<readonly Chunk[]> {
  return usage ? [{ type: "usage", usage: price ? await price(usage) : usage }] : [];
}

/** What the request asks for, unless the client allows more anyway. */
function roomFor(
  { maxOutputTokens }: ModelRequest,
  settings: HttpModelOptions["settings"],
): { maxOutputTokens?: number } {
  if (maxOutputTokens === undefined) return {};
  return { maxOutputTokens: Math.max(maxOutputTokens, settings.maxOutputTokens ?? 0) };
}

/** The settings of a request among the options of a client. */
export function settingsOf({
  model,
  maxOutputTokens,
  temperature,
  extra,
}: ClientOptions): Omit<WireSettings, "stream"> {
  return { model, maxOutputTokens, temperature, extra };
}

export function joinedUrl(base: string, path: string): string {
  return `${base.replace(/\/+$/, "")}${path}`;
}
