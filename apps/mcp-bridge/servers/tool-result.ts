import type { CallToolResult } from "@modelcontextprotocol/server";

/** A tool result with a text for the user and the same as data. */
export function createToolResult(message: string, data: Record<string, unknown>): CallToolResult {
  return { content: [{ type: "text", text: message }], structuredContent: data };
}

/** Turns a thrown error into an error result that the model can read and correct. */
export async function catchErrors(
  action: () => CallToolResult | Promise<CallToolResult>,
): Promise<CallToolResult> {
  try {
    return await action();
  } catch (error) {
    return {
      content: [{ type: "text", text: error instanceof Error ? error.message : String(error) }],
      isError: true,
    };
  }
}
