import {
  isJsonContentType,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  readRequestBody,
  validateHostHeader,
} from "@modelcontextprotocol/server";

/** Which names a request may come to and from; by default only those of this machine. */
export type HostRules = {
  /** Host names without port, such as `mcp.example.com`; `any` when something in front of it checks. */
  readonly allowedHosts?: readonly string[] | "any";
  /** Host names of web pages that may ask; by default the allowed hosts. */
  readonly allowedOrigins?: readonly string[] | "any";
};

const mostBytes = 4 * 1024 * 1024;
const mostMessages = 100;
const deepest = 64;
const longestId = 256;

/** A JSON-RPC error as an HTTP answer. `name` is for programs, `message` for people. */
export function refusal(
  status: number,
  error: { readonly code: number; readonly name: string; readonly message: string },
): Response {
  const { code, name, message } = error;
  return Response.json({ jsonrpc: "2.0", error: { code, message, data: { name } }, id: null }, { status });
}

/** The answer to a request that comes from or to a name that is not allowed. */
export function hostRefusal(request: Request, rules: HostRules): Response | undefined {
  const { allowedHosts = localhostAllowedHostnames(), allowedOrigins = rules.allowedHosts } = rules;
  if (allowedHosts !== "any") {
    const host = validateHostHeader(request.headers.get("host") ?? new URL(request.url).host, [
      ...allowedHosts,
    ]);
    if (!host.ok) return refusal(403, { code: -32_000, name: host.errorCode, message: host.message });
  }
  if (allowedOrigins === "any") return undefined;
  return originValidationResponse(request, [...(allowedOrigins ?? localhostAllowedOrigins())]);
}

/** The same request without its body and without what proves who sent it: nothing behind this can pass that on. */
export function withoutCredentials(request: Request): Request {
  const headers = new Headers(request.headers);
  for (const name of ["authorization", "proxy-authorization", "cookie"]) headers.delete(name);
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}

/** The JSON of a POST within the limits, or the answer that says which limit it breaks. */
export async function readBody(request: Request): Promise<{ readonly parsed: unknown } | Response> {
  if (request.method !== "POST") return { parsed: undefined };
  if (!isJsonContentType(request.headers.get("content-type")))
    return refusal(415, {
      code: -32_000,
      name: "unsupported_media_type",
      message: "Unsupported Media Type: Content-Type must be application/json.",
    });
  const body = await readRequestBody(request, mostBytes);
  if (body.tooLarge)
    return refusal(413, {
      code: -32_600,
      name: "body_too_large",
      message: `Payload Too Large: a request body has at most ${mostBytes} bytes.`,
    });
  if (depthOf(body.text) > deepest)
    return refusal(400, {
      code: -32_600,
      name: "too_deep",
      message: `Invalid Request: JSON is nested at most ${deepest} deep.`,
    });
  try {
    const parsed: unknown = JSON.parse(body.text);
    return brokenLimit(parsed) ?? { parsed };
  } catch {
    return refusal(400, {
      code: -32_700,
      name: "parse_error",
      message: "Parse error: the body is not valid JSON.",
    });
  }
}

function brokenLimit(parsed: unknown): Response | undefined {
  const messages = Array.isArray(parsed) ? parsed : [parsed];
  if (messages.length > mostMessages)
    return refusal(400, {
      code: -32_600,
      name: "batch_too_large",
      message: `Invalid Request: a batch has at most ${mostMessages} messages.`,
    });
  if (messages.some(hasLongId))
    return refusal(400, {
      code: -32_600,
      name: "id_too_long",
      message: `Invalid Request: an id has at most ${longestId} characters.`,
    });
  return undefined;
}

function hasLongId(message: unknown): boolean {
  if (typeof message !== "object" || message === null || !("id" in message)) return false;
  return typeof message.id === "string" && message.id.length > longestId;
}

/** Counted in the text, before anything that recurses sees the value. */
export function depthOf(json: string): number {
  let depth = 0;
  let most = 0;
  let quoted = false;
  for (let at = 0; at < json.length; at += 1) {
    const letter = json[at];
    if (quoted) {
      if (letter === "\\") at += 1;
      else if (letter === '"') quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === "{" || letter === "[") most = Math.max(most, ++depth);
    else if (letter === "}" || letter === "]") depth -= 1;
  }
  return most;
}
