const text = `This is Capstan, an agent runtime. The studio is not installed, so there is nothing to see here, but much to ask:

  GET  /api/health            whether it is well
  GET  /openapi.json          everything it can do
  POST /api/chat              { "messages": [{ "role": "user", "content": "Hello" }] }, answered as a stream
  POST /v1/chat/completions   the same for clients of OpenAI's API
       /mcp                   the agents as an MCP server

To try it:

  curl -N ORIGIN/api/chat -H 'content-type: application/json' -d '{"messages":[{"role":"user","content":"Hello"}]}'
`;

/** What `/` says as long as there is no studio. Whatever refuses a request comes before it. */
export function withStartPage(request: Request, given: Response): Response {
  const { pathname, origin } = new URL(request.url);
  if (pathname !== "/" || given.status !== 404 || !/^(?:GET|HEAD)$/.test(request.method)) return given;
  const headers = new Headers(given.headers);
  headers.set("content-type", "text/plain; charset=utf-8");
  headers.delete("content-length");
  return new Response(request.method === "HEAD" ? undefined : text.replace("ORIGIN", origin), { headers });
}
