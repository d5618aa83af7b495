import { createHmac } from "node:crypto";

export const standardSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
export const slackSecret = "8f742231b10e8888abcd99yyyzzz85a5";
export const githubSecret = "It's a Secret to Everybody";

type SignedHeaders = Readonly<Record<string, string>>;
type SignOptions = { readonly secret?: string; readonly id?: string; readonly at?: number };

const toSeconds = (at: number) => String(Math.floor(at / 1000));

/** Signs as senders of Standard Webhooks do, written here a second time. */
export function signStandard(body: string | Uint8Array, options: SignOptions = {}): SignedHeaders {
  const { secret = standardSecret, id = "msg_1", at = Date.now() } = options;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key)
    .update(`${id}.${toSeconds(at)}.`)
    .update(body)
    .digest("base64");
  return {
    ...{ "webhook-id": id, "webhook-timestamp": toSeconds(at) },
    "webhook-signature": `v1,${signature}`,
  };
}

type GithubHeaders = { readonly event?: string; readonly id?: string };

export function signGithub(body: string, { event = "issues", id = "d1" }: GithubHeaders = {}): SignedHeaders {
  const signature = createHmac("sha256", githubSecret).update(body).digest("hex");
  return {
    ...{ "x-github-event": event, "x-github-delivery": id },
    "x-hub-signature-256": `sha256=${signature}`,
  };
}

export function signSlack(body: string, { at = Date.now() }: SignOptions = {}): SignedHeaders {
  const signed = `v0:${toSeconds(at)}:${body}`;
  const signature = createHmac("sha256", slackSecret).update(signed).digest("hex");
  return { "x-slack-request-timestamp": toSeconds(at), "x-slack-signature": `v0=${signature}` };
}
