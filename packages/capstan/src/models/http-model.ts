import { type Clock, rejectOnAbort, sleep, systemClock } from "../clock.ts";
import { AgentError } from "../errors.ts";
import { findHostedProblems } from "../hosted/support.ts";
import type { Chunk, Model, ModelFiles, ModelRequest, Usage } from "../model.ts";
import type { Limit } from "../settings/limit.ts";
import { mergeSettings, settingNames } from "../settings/settings.ts";
import { checkSupport, findSettingProblems, type ModelApi } from "../settings/support.ts";
import { buildCircuitKey, type Circuit, type CircuitOptions, getCircuit } from "./circuit.ts";
import { createResponseError, toNetworkError } from "./http-failure.ts";
import { type PostRequest, type PostResponse, post } from "./post.ts";
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
  /** Adds headers that a request needs because of its content. */
  contentHeaders?: ((body: string) => Readonly<Record<string, string>>) | undefined;
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
    stream(request, { signal }) {
      const timer = createIdleTimer(signal, options.timeouts, options.clock);
      const batches = createBatchQueue(timer.abort);
      sendRequest(options, { request, timer, batches }).then(
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
};

async function sendRequest(options: HttpModelOptions, call: ModelCall): Promise<void> {
  const { id, wire, stream = true } = options;
  const { request, timer, batches } = call;
  const summary: StreamSummary = { isFinished: false, usage: undefined };
  let circuit: Circuit | undefined;
  let url = "";
  try {
    url = options.url(stream);
    const own = await buildHeaders(options, timer.signal);
    circuit = await acquireCircuit(options, { url, headers: own }, timer.signal);
    const headers = wire.buildHeaders
      ? addWireHeaders(own, wire.buildHeaders(request, options.settings.model))
      : own;
    const body = wire.toRequest(request, buildWireSettings(options, request));
    if (options.contentHeaders) Object.assign(headers, options.contentHeaders(body));
    const response = await sendPost(options, { url, headers, body, signal: timer.signal });
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

/** Adds the headers of the wire. A list in the headers of the client stays. */
function addWireHeaders(
  headers: Record<string, string>,
  wireHeaders: Readonly<Record<string, string>>,
): Record<string, string> {
  const added = Object.entries(wireHeaders).map(([name, value]) => {
    return [name, headers[name] ? `${headers[name]},${value}` : value];
  });
  return { ...headers, ...Object.fromEntries(added) };
}

/** Rejects for a response that is not a success, after the credentials were renewed once. */
async function sendPost(options: HttpModelOptions, request: PostRequest): Promise<PostResponse> {
  const { id, wire, sign, renew } = options;
  const { signal } = request;
  const headers = sign ? await rejectOnAbort(sign(request), signal) : request.headers;
  const response = await post({ ...request, headers }, options.fetch);
  if (response.status >= 200 && response.status <= 299) return response;
  const failure = await createResponseError(response, { wire, id, headers });
  if (failure.code !== "model_auth" || !renew) throw failure;
  if (!(await rejectOnAbort(renew(headers), signal))) throw failure;
  const newHeaders = await buildHeaders(options, signal);
  return sendPost({ ...options, renew: undefined }, { ...request, headers: newHeaders });
}

/** Rejects while the circuit is open; that error does not count as another failure of the provider. */
async function acquireCircuit(
  options: HttpModelOptions,
  request: Pick<PostRequest, "url" | "headers">,
  signal: AbortSignal,
): Promise<Circuit | undefined> {
  if (options.circuit === false) return undefined;
  const { id, fetch, account, clock = systemClock } = options;
  const key = buildCircuitKey({ ...request, id, fetch, account });
  const circuit = getCircuit(key, { name: id, now: clock.monotonic, ...options.circuit });
  const waitMs = circuit.admit();
  if (waitMs > 0) await sleep(clock, waitMs, signal);
  return circuit;
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

/** Picks the request settings from the client options. */
export function pickSettings(options: ClientOptions): Omit<WireSettings, "stream"> {
  const picked: Record<string, unknown> = { model: options.model };
  for (const name of settingNames) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) picked[name] = value;
  }
  return picked as Omit<WireSettings, "stream">;
}

export function joinUrl(base: string, path: string): string {
  return `${base.replace(/\/+$/, "")}${path}`;
}

/** Time limits for a response. */
export type Timeouts = {
  /** From the request to the first byte. Default: 120,000. */
  readonly firstByteMs: number;
  /** Between two reads. Default: 60,000. */
  readonly idleMs: number;
};

const defaultTimeouts: Timeouts = { firstByteMs: 120_000, idleMs: 60_000 };

export type IdleTimer = {
  /** Aborts with the caller's signal or on a timeout. */
  readonly signal: AbortSignal;
  /** Restarts the idle timeout after a read. */
  reset(): void;
  /** Returns the timeout error, if a timeout caused the abort. */
  getFailure(): AgentError | undefined;
  /** Aborts the request because its reader stopped. */
  abort(): void;
  stop(): void;
};

/** Uses real time by default, not the run's clock, because it limits a network connection. */
export function createIdleTimer(
  signal: AbortSignal,
  timeouts: Partial<Timeouts> = {},
  clock: Clock = systemClock,
): IdleTimer {
  const { firstByteMs, idleMs } = { ...defaultTimeouts, ...timeouts };
  const controller = new AbortController();
  let failure: AgentError | undefined;
  let lastReadAt: number | undefined;
  let cancelTimer = clock.after(firstByteMs, check);

  // The timer is not restarted on every read, which would cost more than the read itself: when it fires, it checks
  // the time of the last read.
  function check(): void {
    const remainingMs = lastReadAt === undefined ? 0 : lastReadAt + idleMs - clock.monotonic();
    if (remainingMs > 0) cancelTimer = clock.after(remainingMs, check);
    else timeOut();
  }
  function timeOut(): void {
    const [ms, when] =
      lastReadAt === undefined ? [firstByteMs, "after the request"] : [idleMs, "in mid-answer"];
    failure = new AgentError("model_timeout", `The provider sent nothing for ${ms} ms ${when}.`);
    controller.abort(failure);
  }
  const forward = () => controller.abort(signal.reason);
  if (signal.aborted) forward();
  else signal.addEventListener("abort", forward, { once: true });
  return {
    signal: controller.signal,
    reset() {
      if (lastReadAt === undefined) {
        cancelTimer();
        cancelTimer = clock.after(idleMs, check);
      }
      lastReadAt = clock.monotonic();
    },
    getFailure: () => failure,
    abort: () => controller.abort(),
    stop() {
      cancelTimer();
      signal.removeEventListener("abort", forward);
    },
  };
}
