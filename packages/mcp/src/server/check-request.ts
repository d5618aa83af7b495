import {
  isJsonContentType,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  readRequestBody,
  validateHostHeader,
} from "@modelcontextprotocol/server";
import { createErrorResponse } from "./error-response.ts";

/** Allowed host names; by default only local ones. */
export type HostRules = {
  /** Host names without port, such as `mcp.example.com`; `any` if a proxy checks them. */
  readonly allowedHosts?: readonly string[] | "any";
  /** Host names of web pages that may send requests; default: the allowed hosts. */
  readonly allowedOrigins?: readonly string[] | "any";
};

const maxBodyBytes = 4 * 1024 * 1024;
const maxBatchSize = 100;
const maxDepth = 64;
const maxIdLength = 256;

/** Returns an error response if the host or origin is not allowed. */
export function checkHost(request: Request, rules: HostRules): Response | undefined {
  const { allowedHosts = localhostAllowedHostnames(), allowedOrigins = rules.allowedHosts } = rules;
  if (allowedHosts !== "any") {
    const host = validateHostHeader(request.headers.get("host") ?? new URL(request.url).host, [
      ...allowedHosts,
    ]);
    if (!host.ok)
      return createErrorResponse(403, { code: -32_000, name: host.errorCode, message: host.message });
  }
  if (allowedOrigins === "any") return undefined;
  return originValidationResponse(request, [...(allowedOrigins ?? localhostAllowedOrigins())]);
}

/** Copies a request without body and credentials, so that nothing behind it can leak them. */
export function withoutCredentials(request: Request): Request {
  const headers = new Headers(request.headers);
  for (const name of ["authorization", "proxy-authorization", "cookie"]) headers.delete(name);
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}

/** Parses the JSON body of a POST, or returns an error response if it exceeds a limit. */
export async function parseJsonBody(request: Request): Promise<{ readonly parsed: unknown } | Response> {
  if (request.method !== "POST") return { parsed: undefined };
  if (!isJsonContentType(request.headers.get("content-type")))
    return createErrorResponse(415, {
      code: -32_000,
      name: "unsupported_media_type",
      message: "Unsupported Media Type: Content-Type must be application/json.",
    });
  const body = await readRequestBody(request, maxBodyBytes);
  if (body.tooLarge)
    return createErrorResponse(413, {
      code: -32_600,
      name: "body_too_large",
      message: `Payload Too Large: the limit for a request body is ${maxBodyBytes} bytes.`,
    });
  if (measureDepth(body.text) > maxDepth)
    return createErrorResponse(400, {
      code: -32_600,
      name: "too_deep",
      message: `Invalid Request: the limit for JSON nesting is ${maxDepth} levels.`,
    });
  try {
    const parsed: unknown = JSON.parse(body.text);
    return checkLimits(parsed) ?? { parsed };
  } catch {
    return createErrorResponse(400, {
      code: -32_700,
      name: "parse_error",
      message: "Parse error: the body is not valid JSON.",
    });
  }
}

function checkLimits(parsed: unknown): Response | undefined {
  const messages = Array.isArray(parsed) ? parsed : [parsed];
  if (messages.length > maxBatchSize)
    return createErrorResponse(400, {
      code: -32_600,
      name: "batch_too_large",
      message: `Invalid Request: the limit for a batch is ${maxBatchSize} messages.`,
    });
  if (messages.some(hasLongId))
    return createErrorResponse(400, {
      code: -32_600,
      name: "id_too_long",
      message: `Invalid Request: the limit for an id is ${maxIdLength} characters.`,
    });
  return undefined;
}

function hasLongId(message: unknown): boolean {
  if (typeof message !== "object" || message === null || !("id" in message)) return false;
  return typeof message.id === "string" && message.id.length > maxIdLength;
}

/** Measures nesting in the text, before a recursive function sees the value. */
export function measureDepth(json: string): number {
  let depth = 0;
  let deepestLevel = 0;
  let isQuoted = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (isQuoted) {
      if (character === "\\") at += 1;
      else if (character === '"') isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === "{" || character === "[") deepestLevel = Math.max(deepestLevel, ++depth);
    else if (character === "}" || character === "]") depth -= 1;
  }
  return deepestLevel;
}
