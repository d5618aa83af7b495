import { createHmac, timingSafeEqual } from "node:crypto";
import { AgentError } from "capstan";
import type { WebhookProvider } from "./webhook.ts";

/** What the headers of a request say about its signature. The body has not been read yet. */
export type SignatureClaim = {
  /** Any of them may be the right one, while a secret is replaced. */
  readonly signatures: readonly Buffer[];
  /** The signed text before the body. */
  readonly prefix: string;
};

const toleranceMs = 5 * 60_000;
const maxSignatures = 10;

/**
 * Reads the signature headers of a request. Throws `unauthorized` if they are missing or malformed, or if the request is
 * too old, so that the body of such a request is not read.
 */
export function readSignature(provider: WebhookProvider, headers: Headers, now: number): SignatureClaim {
  return claimReaders[provider](headers, now);
}

const claimReaders: Readonly<Record<WebhookProvider, (headers: Headers, now: number) => SignatureClaim>> = {
  generic(headers, now) {
    const id = getHeader(headers, "webhook-id", /^[!-~]{1,256}$/);
    const timestamp = readTimestamp(headers, "webhook-timestamp", now);
    const listed = getHeader(headers, "webhook-signature", /^[\w+/=,. -]{1,4096}$/).split(" ");
    const encoded = listed.flatMap((signature) => /^v1,([\w+/]{43}=)$/.exec(signature)?.[1] ?? []);
    const signatures = encoded.slice(0, maxSignatures).map((text) => Buffer.from(text, "base64"));
    return { signatures, prefix: `${id}.${timestamp}.` };
  },
  // GitHub signs the body alone: neither a time nor its delivery id.
  github: (headers) => ({
    signatures: [readHexSignature(headers, "x-hub-signature-256", "sha256=")],
    prefix: "",
  }),
  slack(headers, now) {
    const timestamp = readTimestamp(headers, "x-slack-request-timestamp", now);
    const signature = readHexSignature(headers, "x-slack-signature", "v0=");
    return { signatures: [signature], prefix: `v0:${timestamp}:` };
  },
};

function getHeader(headers: Headers, name: string, pattern: RegExp): string {
  const value = headers.get(name);
  if (value === null) throw createSignatureError(`The header ${name} is missing`);
  if (!pattern.test(value)) throw createSignatureError(`The header ${name} is malformed`);
  return value;
}

function readTimestamp(headers: Headers, name: string, now: number): string {
  const timestamp = getHeader(headers, name, /^\d{1,12}$/);
  if (Math.abs(now - Number(timestamp) * 1000) > toleranceMs)
    throw createSignatureError(`The time in ${name} is more than 5 minutes from the server's`);
  return timestamp;
}

function readHexSignature(headers: Headers, name: string, prefix: string): Buffer {
  const value = getHeader(headers, name, new RegExp(`^${prefix}[\\da-f]{64}$`, "i"));
  return Buffer.from(value.slice(prefix.length), "hex");
}

/** Throws `unauthorized` unless one of the keys has signed exactly these bytes. Takes the same time for any forgery. */
export function assertSigned(
  { signatures, prefix }: SignatureClaim,
  keys: readonly Buffer[],
  body: Uint8Array,
): void {
  let isSigned = false;
  for (const key of keys) {
    const expected = createHmac("sha256", key).update(prefix).update(body).digest();
    for (const signature of signatures) if (timingSafeEqual(signature, expected)) isSigned = true;
  }
  if (!isSigned) throw createSignatureError("The signature does not match the body and the secret");
}

function createSignatureError(problem: string): AgentError {
  return new AgentError("unauthorized", `${problem}. Check the secret and the provider of the webhook.`);
}

export type SignedMessage = { readonly id: string; readonly body: string };

/** Returns the headers of a message as Standard Webhooks has them, with one signature per key. */
export function signMessage(
  { id, body }: SignedMessage,
  keys: readonly Buffer[],
  now: number,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1000));
  const sign = (key: Buffer) =>
    createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": keys.map((key) => `v1,${sign(key)}`).join(" "),
  };
}
