import type { SentRequest } from "../kernel/model.ts";
import { secretHeaders } from "./circuit.ts";
import type { PostRequest } from "./post.ts";
import { withCache } from "./with-cache.ts";

/** Headers whose values are no secrets. An application may send its own secrets in any other. */
const openHeaders: ReadonlySet<string> = new Set([
  ...["accept", "content-type", "user-agent", "anthropic-version", "anthropic-beta", "openai-beta"],
  ...["openai-organization", "openai-project", "x-amz-date", "x-amz-content-sha256"],
]);
const openParameters: ReadonlySet<string> = new Set(["alt", "api-version"]);
const stars = "***";
const minSecretLength = 8;

/** Describes a request as it is sent, with `***` for everything that may be a key. */
export function describeRequest({ url, headers, body }: Omit<PostRequest, "signal">): SentRequest {
  const shown: Record<string, string> = {};
  let maskedBody = body;
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? "";
    const lowerName = name.toLowerCase();
    shown[name] = openHeaders.has(lowerName) ? value : stars;
    const secret = secretHeaders.has(lowerName) ? value.replace(/^Bearer /, "") : "";
    // Also in the body, into which a user may have pasted the key.
    if (secret.length >= minSecretLength && maskedBody.includes(secret))
      maskedBody = maskedBody.replaceAll(secret, stars);
  }
  return { url: maskUrl(url), method: "POST", headers: shown, body: maskedBody };
}

const maskUrl = withCache((url) => {
  const [address = "", ...query] = url.split("?");
  const masked = address.replace(/^([a-z]+:\/\/)[^/@]*@/i, `$1${stars}@`);
  if (query.length === 0) return masked;
  const parameters = query
    .join("?")
    .split("&")
    .map((parameter) => {
      const [name = ""] = parameter.split("=", 1);
      return openParameters.has(name) ? parameter : `${name}=${stars}`;
    });
  return `${masked}?${parameters.join("&")}`;
});
