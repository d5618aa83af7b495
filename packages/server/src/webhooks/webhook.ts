import type { GuardOptions } from "@capstan/tools/guarded-fetch";
import { AgentError, type Json } from "capstan";
import { assertUserName } from "../access/api-keys.ts";

export type WebhookProvider = "generic" | "github" | "slack";

/** One secret, or several while one replaces the other. Missing ones are reported when the server starts. */
export type WebhookSecret = string | readonly string[] | undefined;

/** A verified request of a webhook. */
export type WebhookDelivery = {
  /** The sender's id of the delivery. */
  readonly id: string;
  /** The kind of event: `issues.opened` of GitHub, `app_mention` of Slack, the `type` of a generic payload. */
  readonly event: string;
  readonly payload: Json;
};

export type WebhookEvent = "run.ended" | "run.waiting";

type ReplyOptions = {
  /** When to send: once the run has ended (default), and each time it waits for an approval or an answer. */
  readonly events?: readonly WebhookEvent[];
  /** What the guarded client may reach, such as `{ allowPrivate: true }`. Default: public https addresses only. */
  readonly guard?: GuardOptions;
};

/** Where the result of a run is sent: to a URL, signed as Standard Webhooks; or to the thread in Slack. */
export type WebhookReply =
  | (ReplyOptions & { readonly url: string; readonly secret: WebhookSecret })
  /** A bot token of Slack with the scope `chat:write`. */
  | (ReplyOptions & { readonly token: string | undefined });

/** A webhook that starts runs, served at `POST /webhooks/{name}`. */
export type Webhook = {
  /** How requests are signed. `generic`: Standard Webhooks. */
  readonly provider: WebhookProvider;
  readonly secret: WebhookSecret;
  /** Default: the first agent. */
  readonly agent?: string;
  /** The user that the runs belong to. Default: the local user. */
  readonly user?: string;
  /** Limit of a request's body. Default: 1 MiB. */
  readonly maxBytes?: number;
  /**
   * Returns what the agent reads of a delivery; undefined ignores the delivery. Must return the same for a repeated
   * delivery. Default: the message of Slack, or else the event and the payload as JSON.
   */
  readonly toText?: (delivery: WebhookDelivery) => string | undefined;
  readonly reply?: WebhookReply;
};

export type Webhooks = Readonly<Record<string, Webhook>>;

type ReplyTarget = { readonly url: string } & (
  | { readonly type: "post"; readonly keys: readonly Buffer[] }
  | { readonly type: "slack"; readonly token: string }
);

/** A webhook with its defaults, and its secrets as keys. */
export type ConfiguredWebhook = Pick<Webhook, "provider" | "agent" | "toText"> & {
  readonly name: string;
  readonly user: string;
  readonly maxBytes: number;
  readonly keys: readonly Buffer[];
  readonly reply?: {
    readonly target: ReplyTarget;
    readonly events: readonly WebhookEvent[];
    readonly guard: GuardOptions;
  };
};

const providers: readonly WebhookProvider[] = ["generic", "github", "slack"];
const replyEvents: readonly WebhookEvent[] = ["run.ended", "run.waiting"];
const slackUrl = "https://slack.com/api/chat.postMessage";
const defaultMaxBytes = 1024 * 1024;
const minSecretLength = 16;

/** Applies the defaults. Throws `invalid_definition` for invalid webhooks; the errors contain no secret. */
export function configureWebhooks(webhooks: Webhooks): ReadonlyMap<string, ConfiguredWebhook> {
  return new Map(Object.entries(webhooks).map(([name, webhook]) => [name, configureWebhook(name, webhook)]));
}

/** Throws `invalid_definition` for webhooks that no server could use. */
export function checkWebhooks(webhooks: Webhooks): void {
  configureWebhooks(webhooks);
}

function configureWebhook(name: string, webhook: Webhook): ConfiguredWebhook {
  const { provider, secret, agent, user = "", maxBytes = defaultMaxBytes, toText, reply } = webhook;
  if (!/^[\w-]{1,64}$/.test(name))
    throw createDefinitionError(name, 'needs a name of 1 to 64 of a-z, A-Z, 0-9, "_" and "-"');
  if (!providers.includes(provider))
    throw createDefinitionError(name, `needs a \`provider\`: ${providers.join(", ")}`);
  if (!Number.isInteger(maxBytes) || maxBytes <= 0)
    throw createDefinitionError(name, "needs a whole number above 0 as `maxBytes`");
  assertUserName(user);
  const isStandard = provider === "generic";
  return {
    ...{ name, provider, user, maxBytes, keys: toKeys(name, secret, { field: "secret", isStandard }) },
    ...(agent !== undefined && { agent }),
    ...(toText && { toText }),
    ...(reply && { reply: configureReply(name, provider, reply) }),
  };
}

function configureReply(
  name: string,
  provider: WebhookProvider,
  reply: WebhookReply,
): NonNullable<ConfiguredWebhook["reply"]> {
  const { events = ["run.ended"], guard = {} } = reply;
  if (!events.every((event) => replyEvents.includes(event)))
    throw createDefinitionError(name, `needs \`reply.events\` of ${replyEvents.join(" and ")}`);
  if ("url" in reply) {
    if (!URL.canParse(reply.url)) throw createDefinitionError(name, "needs a URL as `reply.url`");
    const keys = toKeys(name, reply.secret, { field: "reply.secret", isStandard: true });
    return { target: { type: "post", url: reply.url, keys }, events, guard };
  }
  if (provider !== "slack" || !reply.token)
    throw createDefinitionError(
      name,
      "needs `reply.url` and `reply.secret`, or with the provider slack a `reply.token`. Check the environment variable that it comes from",
    );
  return { target: { type: "slack", url: slackUrl, token: reply.token }, events, guard };
}

type KeyOptions = { readonly field: string; readonly isStandard: boolean };

function toKeys(name: string, secret: WebhookSecret, { field, isStandard }: KeyOptions): readonly Buffer[] {
  const secrets = typeof secret === "string" ? [secret] : (secret ?? []);
  if (secrets.length === 0 || secrets.includes(""))
    throw createDefinitionError(
      name,
      `needs a \`${field}\`. Check the environment variable that it comes from`,
    );
  return secrets.map((text) => {
    const key = isStandard ? parseStandardSecret(text) : Buffer.from(text);
    if (key && key.length >= minSecretLength) return key;
    const expected = isStandard
      ? 'must be "whsec_" and 24 to 64 random bytes in base64, as Standard Webhooks has it'
      : `must have at least ${minSecretLength} characters`;
    throw createDefinitionError(name, `has an invalid \`${field}\`: it ${expected}`);
  });
}

function parseStandardSecret(secret: string): Buffer | undefined {
  const encoded = /^whsec_([\w+/-]+={0,2})$/.exec(secret)?.[1];
  const key = Buffer.from(encoded ?? "", "base64");
  return key.length >= 24 && key.length <= 64 ? key : undefined;
}

function createDefinitionError(name: string, problem: string): AgentError {
  return new AgentError("invalid_definition", `The webhook "${name.slice(0, 100)}" ${problem}.`);
}

/** Lists the secrets of all webhooks, which are masked in everything that leaves a run. */
export function listWebhookSecrets(webhooks: Webhooks): readonly string[] {
  return Object.values(webhooks)
    .flatMap(({ secret, reply }) => [secret, reply && ("url" in reply ? reply.secret : reply.token)])
    .flat()
    .flatMap((secret) => secret || []);
}
