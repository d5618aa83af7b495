import { createHash } from "node:crypto";
import { AgentError, isRecord, type Json } from "capstan";
import type { ConfiguredWebhook, WebhookDelivery, WebhookProvider } from "./webhook.ts";

/** The place in Slack that an answer goes to. */
export type SlackThread = { readonly channel: string; readonly thread: string };

/** What to do about a verified request. */
export type ReceivedDelivery =
  | {
      readonly type: "start";
      /** Derives from signed content alone: a replay with other headers is the same delivery. */
      readonly key: string;
      readonly id: string;
      readonly text: string;
      readonly slack?: SlackThread;
    }
  | { readonly type: "ignore"; readonly reason: string }
  | { readonly type: "challenge"; readonly challenge: string };

/** A verified request, parsed. */
export type WebhookRequest = {
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly payload: Json;
};

type ProviderDelivery = WebhookDelivery & {
  readonly key: string;
  readonly text: string;
  readonly slack?: SlackThread;
};
type Reader = (request: WebhookRequest) => ProviderDelivery | Exclude<ReceivedDelivery, { type: "start" }>;

/** Reads a verified request as its provider has it. Throws `invalid_input` for a payload that the provider never sends. */
export function readDelivery(
  { provider, toText }: ConfiguredWebhook,
  request: WebhookRequest,
): ReceivedDelivery {
  const read = readers[provider](request);
  if ("type" in read) return read;
  const { key, id, event, payload, slack } = read;
  const text = toText ? toText({ id, event, payload }) : read.text;
  if (text === undefined || text.trim() === "")
    return { type: "ignore", reason: `The webhook takes nothing of the event "${event}".` };
  return { type: "start", key, id, text, ...(slack && { slack }) };
}

const readers: Readonly<Record<WebhookProvider, Reader>> = {
  generic({ headers, payload }) {
    const id = headers.get("webhook-id") ?? "";
    const event = getTextField(payload, "type");
    return { key: id, id, event, payload, text: formatPayload(event, payload) };
  },
  github({ headers, body, payload }) {
    const name = headers.get("x-github-event") ?? "";
    if (name === "ping") return { type: "ignore", reason: "The webhook works." };
    const action = getTextField(payload, "action");
    const event = action === "" ? name : `${name}.${action}`;
    const id = headers.get("x-github-delivery") ?? "";
    const key = createHash("sha256").update(body).digest("base64url");
    const repository = getTextField(getField(payload, "repository"), "full_name");
    const subject = getField(payload, "issue") ?? getField(payload, "pull_request");
    const title = getTextField(subject, "title");
    const heading = `${event}${repository && ` in ${repository}`}${title && `: ${title}`}`;
    return { key, id, event, payload, text: formatPayload(heading, payload) };
  },
  slack: ({ payload }) => {
    if (getTextField(payload, "type") === "url_verification")
      return { type: "challenge", challenge: getTextField(payload, "challenge") };
    return readSlackEvent(payload);
  },
};

/** Slack repeats an event with another request, and reports a mention also as a message: its place and time identify it. */
function readSlackEvent(payload: Json): ReturnType<Reader> {
  const message = getField(payload, "event");
  const event = getTextField(message, "type");
  if (event !== "app_mention" && event !== "message")
    return { type: "ignore", reason: `The event "${event.slice(0, 100)}" is not a message.` };
  const [channel, time] = [getTextField(message, "channel"), getTextField(message, "ts")];
  if (channel === "" || time === "")
    throw new AgentError("invalid_input", "The Slack event has no channel or no time.");
  // Bots answer each other forever; changed and deleted messages have a subtype.
  if (getTextField(message, "bot_id") !== "" || getTextField(message, "subtype") !== "")
    return { type: "ignore", reason: "The message is of a bot, or was changed." };
  const thread = getTextField(message, "thread_ts") || time;
  const key = JSON.stringify([getTextField(payload, "team_id"), channel, time]);
  const id = getTextField(payload, "event_id");
  return { key, id, event, payload, text: getTextField(message, "text"), slack: { channel, thread } };
}

function getField(value: Json | undefined, field: string): Json | undefined {
  return isRecord(value) && Object.hasOwn(value, field) ? (value[field] as Json) : undefined;
}

function getTextField(value: Json | undefined, field: string): string {
  const text = getField(value, field);
  return typeof text === "string" ? text : "";
}

/** About 25,000 tokens. `toText` can choose what the agent reads of larger payloads. */
const maxTextLength = 100_000;

function formatPayload(heading: string, payload: Json): string {
  const json = JSON.stringify(payload, undefined, 2);
  const shown =
    json.length > maxTextLength
      ? `${json.slice(0, maxTextLength).toWellFormed()}\n[${maxTextLength} of ${json.length} characters]`
      : json;
  return heading === "" ? shown : `${heading}\n${shown}`;
}
