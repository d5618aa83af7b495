import type { GuardedFetch, GuardedRequest, GuardedResponse } from "@capstan/tools/guarded-fetch";
import { AgentError, isRecord } from "capstan";
import { buildMessage, buildSlackText, type RunNews } from "./build-message.ts";
import type { StoredDelivery } from "./delivery-records.ts";
import { signMessage } from "./signature.ts";
import type { ConfiguredWebhook } from "./webhook.ts";

/** The outcome of one attempt to send a message. */
export type PostOutcome =
  | { readonly type: "delivered" }
  | {
      readonly type: "failed";
      readonly error: string;
      /** Whether another attempt is useless. */
      readonly isPermanent: boolean;
      readonly retryAfterMs?: number;
    };

type Reply = NonNullable<ConfiguredWebhook["reply"]>;

/** Sends a message about a run. Never throws. */
export type PostMessage = (
  news: RunNews,
  delivery: StoredDelivery,
  signal: AbortSignal,
) => Promise<PostOutcome>;

/** Waiting for an answer longer than this is a failed attempt. */
export const defaultPostMs = 30_000;

/** Creates a sender for the reply of a webhook, which uses the guarded client and follows no redirects. */
export function createPostMessage({ target, guard }: Reply, now: () => number): PostMessage {
  let client: Promise<GuardedFetch> | undefined;
  async function post(request: GuardedRequest): Promise<GuardedResponse> {
    client ??= openClient(guard);
    const headers = { accept: "application/json", ...request.headers };
    return (await client)(target.url, { method: "POST", ...request, headers });
  }
  return async (news, delivery, signal) => {
    try {
      if (target.type === "slack") {
        const body = JSON.stringify(buildSlackMessage(news, delivery));
        const headers = {
          "content-type": "application/json; charset=utf-8",
          authorization: `Bearer ${target.token}`,
        };
        return await checkSlackResponse(await post({ headers, body, signal }));
      }
      const message = buildMessage(news, delivery);
      const headers = {
        "content-type": "application/json",
        ...signMessage(message, target.keys, now()),
      };
      return checkResponse(await post({ headers, body: message.body, signal }));
    } catch (thrown) {
      return toPostFailure(thrown, target.url);
    }
  };
}

/** Loaded when the first message is sent: most servers send none. */
async function openClient(guard: Reply["guard"]): Promise<GuardedFetch> {
  const { guardedFetch } = await import("@capstan/tools/guarded-fetch");
  return guardedFetch({
    totalMs: defaultPostMs,
    acceptsMediaType: () => true,
    limits: { perHost: Number.POSITIVE_INFINITY },
    ...guard,
    // A redirect could turn the message into a GET, or send it elsewhere.
    maxRedirects: 0,
  });
}

function checkResponse(response: GuardedResponse): PostOutcome {
  response.close();
  const { status, headers } = response;
  if (status >= 200 && status < 300) return { type: "delivered" };
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return {
    ...{ type: "failed", error: `The receiver answered with the status ${status}.` },
    isPermanent: status === 410,
    ...(seconds > 0 && { retryAfterMs: seconds * 1000 }),
  };
}

function buildSlackMessage(news: RunNews, { slack }: StoredDelivery): object {
  return {
    ...{ channel: slack?.channel, thread_ts: slack?.thread, text: buildSlackText(news) },
    // A preview would let Slack fetch an address that untrusted text has put into the answer.
    ...{ unfurl_links: false, unfurl_media: false, parse: "none", link_names: false },
  };
}

const temporarySlackErrors: readonly unknown[] = [
  ...["ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable"],
  ...["request_timeout", "team_added_to_org"],
];

/** Slack reports most errors with the status 200. */
async function checkSlackResponse(response: GuardedResponse): Promise<PostOutcome> {
  if (response.status !== 200) return checkResponse(response);
  const answer: unknown = JSON.parse(new TextDecoder().decode(await response.bytes()));
  if (isRecord(answer) && answer.ok === true) return { type: "delivered" };
  const code = isRecord(answer) ? answer.error : undefined;
  const shown = typeof code === "string" && /^\w{1,60}$/.test(code) ? code : "unknown";
  const error = `Slack refused the message: ${shown}.`;
  return { type: "failed", error, isPermanent: !temporarySlackErrors.includes(code) };
}

/** The URL may contain a secret, so the message does not repeat it. */
function toPostFailure(thrown: unknown, url: string): PostOutcome {
  const isKnown = thrown instanceof AgentError;
  const message = isKnown ? thrown.message : "The message could not be sent.";
  const error = message.replaceAll(JSON.stringify(url.slice(0, 200)), "The reply URL");
  return { type: "failed", error, isPermanent: isKnown && thrown.code === "security" };
}
