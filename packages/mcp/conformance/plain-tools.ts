// Fixture tools that need no input from the client. The scenarios define their names and texts.
import { setTimeout as sleep } from "node:timers/promises";
import {
  type CallToolResult,
  fromJsonSchema,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { McpNotifier } from "../src/server/mcp-handler.ts";

/** A red pixel; below, two samples of silence. */
export const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

const toTextResult = (value: string): CallToolResult => ({ content: [{ type: "text", text: value }] });

const answers: Readonly<Record<string, CallToolResult>> = {
  test_simple_text: toTextResult("This is a simple text response for testing."),
  test_image_content: { content: [{ type: "image", data: png, mimeType: "image/png" }] },
  test_audio_content: { content: [{ type: "audio", data: wav, mimeType: "audio/wav" }] },
  test_embedded_resource: {
    content: [
      {
        type: "resource",
        resource: {
          uri: "test://embedded-resource",
          mimeType: "text/plain",
          text: "This is an embedded resource content.",
        },
      },
    ],
  },
  test_multiple_content_types: {
    content: [
      { type: "text", text: "Multiple content types test:" },
      { type: "image", data: png, mimeType: "image/png" },
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: JSON.stringify({ test: "data", value: 123 }),
        },
      },
    ],
  },
};

type ToolAction = (context: ServerContext) => CallToolResult | Promise<CallToolResult>;

async function logThrice(context: ServerContext): Promise<CallToolResult> {
  await context.mcpReq.log("info", "Tool execution started");
  await sleep(50);
  await context.mcpReq.log("info", "Tool processing data");
  await sleep(50);
  await context.mcpReq.log("info", "Tool execution completed");
  return toTextResult("Logged three times.");
}

async function reportProgress(context: ServerContext): Promise<CallToolResult> {
  const progressToken = context.mcpReq._meta?.progressToken;
  for (const progress of [0, 50, 100]) {
    if (progressToken !== undefined)
      await context.mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken, progress, total: 100 },
      });
    if (progress < 100) await sleep(50);
  }
  return toTextResult("Reported progress.");
}

async function closeStream(context: ServerContext): Promise<CallToolResult> {
  context.http?.closeSSE?.();
  await sleep(100);
  return toTextResult("Answered after the stream was closed.");
}

const schemaWithKeywords = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, and the scenario looks for it.
  ...{ if: { properties: { contactMethod: { const: "phone" } } }, then: { required: ["phone"] } },
  else: { required: ["email"] },
  additionalProperties: false,
};

const withHeader = {
  type: "object",
  properties: { region: { type: "string", "x-mcp-header": "Region" } },
  required: ["region"],
};

/** Registers the tools that need no input from the client. */
export function addPlainTools(server: McpServer, notifier: () => McpNotifier): void {
  const acts: Record<string, ToolAction> = {
    test_tool_with_logging: logThrice,
    test_logging_tool: logThrice,
    test_tool_with_progress: reportProgress,
    test_reconnection: closeStream,
    test_error_handling: () => {
      throw new Error("This tool intentionally returns an error for testing");
    },
    test_trigger_tool_change: () => {
      notifier().toolsChanged();
      return toTextResult("The tools changed.");
    },
    test_trigger_prompt_change: () => {
      notifier().promptsChanged();
      return toTextResult("The prompts changed.");
    },
  };
  for (const [name, answer] of Object.entries(answers)) acts[name] = () => answer;
  for (const [name, act] of Object.entries(acts))
    server.registerTool(name, { description: `Fixture ${name}.` }, act);

  const schemas = { json_schema_2020_12_tool: schemaWithKeywords, test_header_parameter: withHeader };
  for (const [name, schema] of Object.entries(schemas))
    server.registerTool(
      name,
      { description: `Fixture ${name}.`, inputSchema: fromJsonSchema(schema) },
      (input) => toTextResult(JSON.stringify(input)),
    );
}
