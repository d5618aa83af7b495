/** A JSON-RPC error as an HTTP response. `name` is the machine-readable code. */
export function createErrorResponse(
  status: number,
  error: { readonly code: number; readonly name: string; readonly message: string },
): Response {
  const { code, name, message } = error;
  return Response.json({ jsonrpc: "2.0", error: { code, message, data: { name } }, id: null }, { status });
}
