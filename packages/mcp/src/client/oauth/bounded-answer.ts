import { OAuthErrorCode } from "@modelcontextprotocol/client";
import { AgentError } from "capstan";

/** What an authorization server answered, read to its end. */
export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

/** What a request of a sign-in may take. */
export type OAuthLimits = { readonly maxBytes: number; readonly timeoutMs: number };

const errorCodes: ReadonlySet<string> = new Set(Object.values(OAuthErrorCode));

/**
 * Stops a sign-in. The SDK goes on to its next guess after every error but a `TypeError`, which is what `fetch`
 * rejects with; the named error is its cause.
 */
export function stopped(error: AgentError): TypeError {
  return new TypeError(error.message, { cause: error });
}

/** Reads an answer within the limits. */
export async function boundedAnswer(response: Response, url: URL, maxBytes: number): Promise<Answer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > maxBytes) {
      const message = `${url.origin} answered with more than ${maxBytes} bytes while signing in. It may not be the right server.`;
      throw stopped(new AgentError("mcp_protocol", message));
    }
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  return { status: response.status, headers: response.headers, text };
}

/**
 * The answer as the SDK gets it. The SDK puts what it cannot read, and what a server says about an error, into
 * messages and warnings, and a server may repeat our secrets there: so of an error only its code is left.
 */
export function toResponse({ status, headers, text }: Answer, url: URL): Response {
  const kept = new Headers({ "content-type": "application/json" });
  const location = headers.get("location");
  if (location !== null) kept.set("location", location);
  const body = parsed(text);
  if (status >= 200 && status < 300) {
    if (body === undefined) {
      const message = `${url.origin}${url.pathname} answered with something that is no JSON while signing in.`;
      throw new AgentError("mcp_protocol", message);
    }
    return new Response(text, { status: 200, headers: kept });
  }
  const code = (body as { error?: unknown } | null | undefined)?.error;
  const error = typeof code === "string" && errorCodes.has(code) ? code : OAuthErrorCode.ServerError;
  const hasNoBody = status === 304 || status < 200;
  return new Response(hasNoBody ? null : JSON.stringify({ error }), { status, headers: kept });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the parser's message repeats a part of the text
  }
}
