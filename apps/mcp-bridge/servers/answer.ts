import type { CallToolResult } from "@modelcontextprotocol/server";

/** A line for people, and the same as data. */
export function answer(message: string, data: Record<string, unknown>): CallToolResult {
  return { content: [{ type: "text", text: message }], structuredContent: data };
}

/** Runs it; what it throws becomes an error that the model can read and correct. */
export async function attempt(
  action: () => CallToolResult | Promise<CallToolResult>,
): Promise<CallToolResult> {
  try {
    return await action();
  } catch (error) {
    return { content: [{ type: "text", text: (error as Error).message }], isError: true };
  }
}
