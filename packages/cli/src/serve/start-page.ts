const text = `This is Capstan, an agent runtime. There is no page here: STUDIO The API:

  GET  /api/health            health check
  GET  /openapi.json          full API description
  POST /api/chat              { "messages": [{ "role": "user", "content": "Hello" }] }, streamed response
  POST /v1/chat/completions   for OpenAI clients
  POST /v1/messages           for Anthropic clients
       /mcp                   the agents as an MCP server

To try it:

  curl -N ORIGIN/api/chat -H 'content-type: application/json' -d '{"messages":[{"role":"user","content":"Hello"}]}'
`;

/**
 * Serves a plain-text page at `/` without the studio, and says why there is none. Responses that reject a request are
 * kept.
 */
export function withStartPage(
  request: Request,
  given: Response,
  missingStudio: string | undefined,
): Response {
  const { pathname, origin } = new URL(request.url);
  if (pathname !== "/" || given.status !== 404 || !/^(?:GET|HEAD)$/.test(request.method)) return given;
  const headers = new Headers(given.headers);
  headers.set("content-type", "text/plain; charset=utf-8");
  headers.delete("content-length");
  const page = text.replace("ORIGIN", origin).replace("STUDIO", missingStudio ?? "");
  return new Response(request.method === "HEAD" ? undefined : page, { headers });
}
