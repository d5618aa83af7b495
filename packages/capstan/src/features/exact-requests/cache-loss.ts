import { getAgent } from "../../kernel/agent.ts";
import type { ModelEffect } from "../../kernel/effect.ts";
import type { FactBody } from "../../kernel/event.ts";
import type { Entry } from "../../kernel/history.ts";
import type { Io } from "../../kernel/io.ts";
import type { ModelRequest, Usage } from "../../kernel/model.ts";
import type { RunState } from "../../kernel/state.ts";
import { findPrefixChange, type PrefixChange, type RequestPrefix } from "./prefix-change.ts";

/** No provider caches less. */
const minCachedTokens = 1024;
/** A smaller loss is not worth a warning, such as a changed note at the end of the instructions. */
const minLostShare = 0.2;
/** Providers keep a prompt at least this long: a later request loses nothing. */
const cacheMs = { short: 5 * 60_000, long: 60 * 60_000 };
const maxSessions = 64;

/** A finished call of a model. */
type FinishedCall = {
  readonly effect: ModelEffect;
  readonly io: Io;
  readonly model: string;
  readonly request: ModelRequest;
  readonly usage: Usage;
};

type SentRequest = {
  readonly prefix: Omit<RequestPrefix, "history">;
  readonly inputTokens: number;
  /** Monotonic. */
  readonly at: number;
};

/** What is only known within a run: it keeps the history alive, which the requests of other runs must not. */
type RunRecord = {
  readonly causes: Set<string>;
  readonly histories: Map<string, { readonly entries: readonly Entry[]; readonly length: number }>;
};

/** The last request by conversation, oldest first. */
const sentRequests = new Map<string, SentRequest>();
const runRecords = new WeakMap<RunState, RunRecord>();

/**
 * Warns if the provider had to read again what it had cached, because this request does not start like the one before
 * it. Compares the two only if the usage shows the loss: until then a turn costs one entry in a map.
 */
export function listCacheWarnings(call: FinishedCall): readonly FactBody[] {
  const { io, request, usage } = call;
  const { run } = io.state;
  if (!run) return [];
  const key = buildKey(call, run);
  const record = runRecords.get(run) ?? { causes: new Set(), histories: new Map() };
  const sent = sentRequests.get(key);
  const history = record.histories.get(key);
  const prefix = buildPrefix(call);
  const at = io.clock.monotonic();
  rememberRequest(key, { prefix, inputTokens: usage.inputTokens, at });
  record.histories.set(key, { entries: request.history, length: request.history.length });
  runRecords.set(run, record);
  const lost = Math.max(0, (sent?.inputTokens ?? 0) - (usage.cachedTokens ?? 0));
  const isLoss = sent && lost >= Math.max(minCachedTokens, sent.inputTokens * minLostShare);
  if (!isLoss || at - sent.at > cacheMs[request.settings?.cache === "long" ? "long" : "short"]) return [];
  const change = findPrefixChange(
    { ...maskPrefix(sent.prefix, io), history: history?.entries.slice(0, history.length) ?? [] },
    { ...maskPrefix(prefix, io), history: request.history },
  );
  if (!change || record.causes.has(change.cause)) return [];
  record.causes.add(change.cause);
  const message = `The provider's cache could not be used for about ${lost.toLocaleString("en")} tokens, because the start of the request changed. ${change.message}`;
  return [
    { type: "warning", code: "cache_prefix_changed", message: message + formatQuotes(change, !!history) },
  ];
}

/**
 * Identifies what continues one prompt. Parallel nested runs are separate conversations, and an agent may use
 * another model after tools on purpose.
 */
function buildKey({ effect, io }: FinishedCall, { parent }: RunState): string {
  const [first] = getAgent(io.agents, effect.agent).models[effect.chain];
  const model = typeof first === "string" ? first : first.id;
  return [io.state.sessionId, parent?.callId ?? "", effect.agent, model].join(" ");
}

/** The earlier text is quoted within a run only: another store may have a session of the same name. */
function formatQuotes({ quotes }: PrefixChange, isSameRun: boolean): string {
  if (!quotes) return "";
  return isSameRun ? ` Before: ${quotes.before}, now: ${quotes.after}.` : ` Now: ${quotes.after}.`;
}

function buildPrefix({ model, request }: FinishedCall): SentRequest["prefix"] {
  const { tools, instructions, toolChoice, thinking, settings = {} } = request;
  const { effort = thinking ? "auto" : "none", serviceTier } = settings;
  return { model, tools, instructions, settings: JSON.stringify({ toolChoice, effort, serviceTier }) };
}

/** An excerpt may cut a secret in two, so it is masked before. */
function maskPrefix(prefix: SentRequest["prefix"], { mask }: Io): SentRequest["prefix"] {
  return mask ? mask(prefix) : prefix;
}

function rememberRequest(key: string, sent: SentRequest): void {
  sentRequests.delete(key);
  sentRequests.set(key, sent);
  const [oldest] = sentRequests.keys();
  if (sentRequests.size > maxSessions && oldest !== undefined) sentRequests.delete(oldest);
}
