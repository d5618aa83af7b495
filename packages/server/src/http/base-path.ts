import { AgentError } from "capstan";
import type { Fetch } from "./security-headers.ts";

/**
 * Removes the base path from requests and adds it to `Location`. A path without it is handled as it is, because some
 * frameworks remove the path themselves. Throws `invalid_definition` for an invalid base path.
 */
export function withBasePath(handle: Fetch, basePath: string): Fetch {
  if (!/^(?:\/[\w.~-]+)+$/.test(basePath)) {
    const message = `Invalid basePath "${basePath}": must start with "/" and not end with it, such as "/agents".`;
    throw new AgentError("invalid_definition", message);
  }
  return async (request, arrivedAt) => {
    const response = await handle(removeBasePath(request, basePath), arrivedAt);
    const location = response.headers.get("location");
    if (location?.startsWith("/")) response.headers.set("location", `${basePath}${location}`);
    return response;
  };
}

function removeBasePath(request: Request, basePath: string): Request {
  const url = new URL(request.url);
  if (url.pathname !== basePath && !url.pathname.startsWith(`${basePath}/`)) return request;
  url.pathname = url.pathname.slice(basePath.length) || "/";
  return new Request(url, request);
}
