import { OAuthErrorCode } from "@modelcontextprotocol/client";
import { AgentError } from "capstan";

/** A complete response of an authorization server. */
export type OAuthResponse = { readonly status: number; readonly headers: Headers; readonly text: string };

export type OAuthLimits = { readonly maxBytes: number; readonly timeoutMs: number };

const errorCodes: ReadonlySet<string> = new Set(Object.values(OAuthErrorCode));

/**
 * Wraps an error to stop a sign-in. After any other error than a `TypeError`, which is what `fetch` rejects with, the SDK
 * continues with its next guess. The `AgentError` is the cause.
 */
export function toFetchError(error: AgentError): TypeError {
  return new TypeError(error.message, { cause: error });
}

/** Reads a response of limited size. */
export async function readOAuthResponse(
  response: Response,
  url: URL,
  maxBytes: number,
): Promise<OAuthResponse> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > maxBytes) {
      const message = `${url.origin} returned more than ${maxBytes} bytes during sign-in. It may be the wrong server.`;
      throw toFetchError(new AgentError("mcp_protocol", message));
    }
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  return { status: response.status, headers: response.headers, text };
}

/**
 * Converts the response for the SDK. The SDK quotes unreadable responses and error descriptions in messages and warnings,
 * and a server may repeat our secrets there, so only the error code is kept.
 */
export function toResponse({ status, headers, text }: OAuthResponse, url: URL): Response {
  const responseHeaders = new Headers({ "content-type": "application/json" });
  const location = headers.get("location");
  if (location !== null) responseHeaders.set("location", location);
  const body = parseResponseJson(text);
  if (status >= 200 && status < 300) {
    if (body === undefined) {
      const message = `${url.origin}${url.pathname} did not return JSON during sign-in.`;
      throw new AgentError("mcp_protocol", message);
    }
    return new Response(text, { status: 200, headers: responseHeaders });
  }
  const code = (body as { error?: unknown } | null | undefined)?.error;
  const error = typeof code === "string" && errorCodes.has(code) ? code : OAuthErrorCode.ServerError;
  const hasNoBody = status === 304 || status < 200;
  return new Response(hasNoBody ? null : JSON.stringify({ error }), { status, headers: responseHeaders });
}

function parseResponseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the parser's message quotes the text
  }
}
