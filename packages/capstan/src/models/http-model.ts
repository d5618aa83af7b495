import { type Clock, rejectOnAbort, sleep, systemClock } from "../base/clock.ts";
import { AgentError } from "../base/errors.ts";
import { findHostedProblems } from "../kernel/hosted-support.ts";
import type { Chunk, Model, ModelFiles, ModelRequest, StreamOptions, Usage } from "../kernel/model.ts";
import type { Limit } from "../kernel/settings/limit.ts";
import { mergeSettings, settingNames } from "../kernel/settings/settings.ts";
import { checkSupport, findSettingProblems, type ModelApi } from "../kernel/settings/support.ts";
import { buildCircuitKey, type Circuit, type CircuitOptions, getCircuit } from "./circuit.ts";
import { describeRequest } from "./describe-request.ts";
import { createResponseError, toNetworkError } from "./http-failure.ts";
import {
  createIdleTimer,
  type IdleTimer,
  type PostRequest,
  type PostResponse,
  post,
  type Timeouts,
} from "./post.ts";
import type { PriceList, Pricer } from "./pricing.ts";
import { type BatchQueue, createBatchQueue, createJsonReader, createSseReader } from "./stream-reader.ts";
import type { Wire, WireSettings } from "./wire.ts";

/** Options of every provider client. */
export type ClientOptions = Omit<WireSettings, "stream" | "now"> & {
  /** Default: the provider's environment variable. */
  readonly apiKey?: string;
  readonly baseURL?: string;
  /** Replaces the global `fetch`, for tests, proxies and tracing. */
  readonly fetch?: typeof fetch;
  /** Added to every request. */
  readonly headers?: { readonly [name: string]: string };
  /** False requests non-streamed responses. Default: true. */
  readonly stream?: boolean;
  readonly timeouts?: Partial<Timeouts>;
  /** Circuit breaker for a provider that keeps failing; false disables it. */
  readonly circuit?: CircuitOptions | false;
  /** Replaces real time for the timeouts and the circuit breaker, in tests. */
  readonly clock?: Clock;
  /** In US dollars per million tokens, by `provider/model`. Takes precedence over the built-in price list. */
  readonly prices?: PriceList;
};

export type HttpModelOptions = {
  readonly id: string;
  /** Default: the API follows every setting. */
  readonly api?: ModelApi | readonly Limit[];
  readonly wire: Wire;
  readonly settings: Omit<WireSettings, "stream">;
  /** Default: true. */
  readonly stream?: boolean | undefined;
  url(stream: boolean): string;
  /** Called for every request, so that tokens can be refreshed. */
  headers(): Record<string, string> | Promise<Record<string, string>>;
  /** Returns the headers to send with the finished request, for providers that want it signed. */
  sign?: ((request: PostRequest) => Promise<Readonly<Record<string, string>>>) | undefined;
  /** Called with the headers of a request that was refused with 401 or 403. True: it is sent once more, with new headers. */
  renew?: ((sent: Readonly<Record<string, string>>) => Promise<boolean>) | undefined;
  /** Creates the reader of a streamed response. Default: for server-sent events. */
  createReader?: typeof createSseReader | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** Adds the cost to the usage. */
  readonly price?: Pricer | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** False disables the circuit breaker. */
  readonly circuit?: CircuitOptions | false | undefined;
  /** The source of credentials, if they are in no header: accounts do not share a circuit breaker. */
  readonly account?: object | undefined;
  readonly clock?: Clock | undefined;
  /** Loads the client of the provider's files. */
  loadFiles?: ((connection: FilesConnection) => Promise<ModelFiles>) | undefined;
};

/** What the client of a provider's files shares with the model. */
export type FilesConnection = Pick<
  HttpModelOptions,
  "id" | "wire" | "headers" | "fetch" | "timeouts" | "clock"
>;

/** Creates a model over HTTP: one POST, answered by server-sent events or JSON. The wire interprets the bytes. */
export function createHttpModel(options: HttpModelOptions): Model {
  const { api, settings, loadFiles } = options;
  const model: Model = {
    id: options.id,
    ...(loadFiles && { files: createLazyFiles(() => loadFiles(options)) }),
    acceptsMedia: (part) => options.wire.acceptsMedia?.(part) ?? true,
    checkSettings: (requested) =>
      api ? findSettingProblems(api, settings.model, mergeSettings(requested, settings)) : [],
    checkHosted: (requested) => (api ? findHostedProblems(api, options.id, requested) : []),
    stream(request, { signal, onRequest }) {
      const timer = createIdleTimer(signal, options.timeouts, options.clock);
      const batches = createBatchQueue(timer.abort);
      sendRequest(options, { request, timer, batches, onRequest }).then(
        () => batches.end(),
        (error) => batches.end(error),
      );
      return batches;
    },
  };
  // Settings of the client, besides the name of the model, are checked like an agent's.
  if (Object.keys(settings).length > 1) checkSupport(`client "${options.id}"`, {}, [model]);
  return model;
}

/** Creates files whose client is loaded on first use. */
export function createLazyFiles(load: () => Promise<ModelFiles>): ModelFiles {
  let loading: Promise<ModelFiles> | undefined;
  const getFiles = () => {
    loading ??= load();
    return loading;
  };
  return {
    upload: async (file, options) => (await getFiles()).upload(file, options),
    remove: async (part, options) => (await getFiles()).remove(part, options),
  };
}

type ModelCall = {
  readonly request: ModelRequest;
  readonly timer: IdleTimer;
  readonly batches: BatchQueue;
  readonly onRequest: StreamOptions["onRequest"] | undefined;
};

async function sendRequest(options: HttpModelOptions, call: ModelCall): Promise<void> {
  const { id, wire, stream = true, clock = systemClock } = options;
  const { request, timer, batches } = call;
  const summary: StreamSummary = { isFinished: false, usage: undefined };
  let circuit: Circuit | undefined;
  let url = "";
  try {
    url = options.url(stream);
    const own = await buildHeaders(options, timer.signal);
    const breaker = getModelCircuit(options, { url, headers: own });
    const waitMs = breaker?.admit() ?? 0;
    if (waitMs > 0) await sleep(clock, waitMs, timer.signal);
    circuit = breaker; // not before: the error of an open circuit is not another failure of the provider
    const body = wire.toRequest(request, buildWireSettings(options, request));
    const headers = wire.buildHeaders
      ? extendHeaders(own, wire.buildHeaders(request, options.settings.model, body))
      : own;
    const response = await sendPost(options, { url, headers, body, signal: timer.signal }, call.onRequest);
    const { createReader = createSseReader } = options;
    const answer = (stream ? createReader : createJsonReader)(wire, request.hosted);
    await response.read((bytes) => {
      timer.reset();
      batches.push(collectUsage(answer.read(bytes), summary));
    });
    batches.push(collectUsage(answer.end(), summary));
    batches.push(await buildUsageChunks(summary, options));
    if (summary.isFinished) circuit?.recordSuccess();
    else circuit?.recordFailure({ code: "stream_truncated" });
  } catch (thrown) {
    // Tokens of a failed response are billed too.
    batches.push(await buildUsageChunks(summary, options));
    const isAborted = timer.signal.aborted && !timer.getFailure();
    const failure = timer.getFailure() ?? toNetworkError(thrown, id, url);
    // An abort by the caller says nothing about the provider.
    if (!isAborted && failure instanceof AgentError) circuit?.recordFailure(failure);
    throw failure;
  } finally {
    timer.stop();
  }
}

async function buildHeaders(
  { stream = true, headers, renew }: HttpModelOptions,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const accept = stream ? "text/event-stream" : "application/json";
  // A source of tokens may hang, such as a metadata server.
  const own = renew ? rejectOnAbort(Promise.resolve(headers()), signal) : headers();
  return { "content-type": "application/json", accept, ...(await own) };
}

/** Adds headers. A header that exists is a list: it gets the new values too, whatever the case of its name. */
export function extendHeaders(
  headers: Readonly<Record<string, string>>,
  added: Readonly<Record<string, string>>,
): Record<string, string> {
  const extended = { ...headers };
  for (const [name, value] of Object.entries(added)) {
    const existing = Object.keys(headers).find((key) => key.toLowerCase() === name);
    extended[existing ?? name] = existing ? `${headers[existing]},${value}` : value;
  }
  return extended;
}

/** Rejects for a response that is not a success, after the credentials were renewed once. */
async function sendPost(
  options: HttpModelOptions,
  request: PostRequest,
  onRequest: ModelCall["onRequest"],
): Promise<PostResponse> {
  const { id, wire, sign, renew } = options;
  const { signal } = request;
  const headers = sign ? await rejectOnAbort(sign(request), signal) : request.headers;
  const signed = sign ? { ...request, headers } : request;
  onRequest?.(describeRequest(signed));
  const response = await post(signed, options.fetch);
  if (response.status >= 200 && response.status <= 299) return response;
  const failure = await createResponseError(response, { wire, id, headers });
  if (failure.code !== "model_auth" || !renew) throw failure;
  if (!(await rejectOnAbort(renew(headers), signal))) throw failure;
  const newHeaders = await buildHeaders(options, signal);
  return sendPost({ ...options, renew: undefined }, { ...request, headers: newHeaders }, onRequest);
}

function getModelCircuit(
  options: HttpModelOptions,
  request: Pick<PostRequest, "url" | "headers">,
): Circuit | undefined {
  if (options.circuit === false) return undefined;
  const { id, fetch, account, clock = systemClock } = options;
  const key = buildCircuitKey({ ...request, id, fetch, account });
  return getCircuit(key, { name: id, now: clock.monotonic, ...options.circuit });
}

/** State of the response so far. Usage figures are totals, and some providers repeat them in every event: the last ones count. */
type StreamSummary = {
  isFinished: boolean;
  usage: Usage | undefined;
  /** Billed searches by call; set once there is one. */
  searches?: Map<unknown, number>;
};

/** Returns the batch without its usage chunks; usage is emitted once, at the end. */
function collectUsage(batch: readonly Chunk[], summary: StreamSummary): readonly Chunk[] {
  let hasUsage = false;
  for (const chunk of batch) {
    if (chunk.type === "finish") summary.isFinished = true;
    if (chunk.type === "hosted" && chunk.call.outcome?.searches) {
      summary.searches ??= new Map();
      summary.searches.set(chunk.call.id ?? summary.searches.size, chunk.call.outcome.searches);
    }
    if (chunk.type !== "usage") continue;
    summary.usage = chunk.usage;
    hasUsage = true;
  }
  return hasUsage ? batch.filter(({ type }) => type !== "usage") : batch;
}

async function buildUsageChunks(
  { usage: tokens, searches }: StreamSummary,
  { price }: HttpModelOptions,
): Promise<readonly Chunk[]> {
  if (!tokens) return [];
  const webSearches = searches && [...searches.values()].reduce((sum, count) => sum + count, 0);
  const usage = webSearches ? { ...tokens, webSearches } : tokens;
  return [{ type: "usage", usage: price ? await price(usage) : usage }];
}

/** Merges the settings of the request over the client's. A request after a truncated answer wants at least its own limit. */
export function buildWireSettings(
  { settings, stream = true, clock = systemClock }: Pick<HttpModelOptions, "settings" | "stream" | "clock">,
  { settings: requested, maxOutputTokens = 0, hosted }: ModelRequest,
): WireSettings {
  const merged = requested ? { ...mergeSettings(requested, settings), model: settings.model } : settings;
  const fixed = { ...merged, stream, ...(hosted && { now: clock.now() }) };
  if (maxOutputTokens === 0) return fixed;
  return { ...fixed, maxOutputTokens: Math.max(maxOutputTokens, merged.maxOutputTokens ?? 0) };
}

/** Picks the options that every client passes on unchanged, and the settings of its requests. */
export function pickClientOptions(
  options: ClientOptions,
): Pick<HttpModelOptions, "settings" | "stream" | "fetch" | "timeouts" | "circuit" | "clock"> {
  const { model, stream, fetch, timeouts, circuit, clock } = options;
  const settings: Record<string, unknown> = { model };
  for (const name of settingNames) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) settings[name] = value;
  }
  return { settings: settings as HttpModelOptions["settings"], stream, fetch, timeouts, circuit, clock };
}

export function joinUrl(base: string, path: string): string {
  return `${base.replace(/\/+$/, "")}${path}`;
}
