// Fixture resources and prompts. The scenarios define their names and texts.
import { completable, type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { z } from "zod";
import { png } from "./plain-tools.ts";

/** Registers static resources, a template, and a resource that supports subscriptions. */
export function addResources(server: McpServer): void {
  const addTextResource = (uri: string, text: string) =>
    server.registerResource(uri, uri, { description: text, mimeType: "text/plain" }, () => ({
      contents: [{ uri, mimeType: "text/plain", text }],
    }));
  addTextResource("test://static-text", "This is the content of the static text resource.");
  addTextResource("test://watched-resource", "This is the content of the watched resource.");
  server.registerResource(
    "static-binary",
    "test://static-binary",
    { description: "A red pixel.", mimeType: "image/png" },
    () => ({ contents: [{ uri: "test://static-binary", mimeType: "image/png", blob: png }] }),
  );
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { description: "The data of an id.", mimeType: "application/json" },
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: "application/json",
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  );
  server.server.setRequestHandler("resources/subscribe", () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", () => ({}));
}

/** Registers the prompts that need no input from the client. */
export function addPrompts(server: McpServer): void {
  const user = <Content>(content: Content) => ({ role: "user" as const, content });
  const createMessage = (text: string) => user({ type: "text" as const, text });

  server.registerPrompt("test_simple_prompt", { description: "A simple prompt." }, () => ({
    messages: [createMessage("This is a simple prompt for testing.")],
  }));
  const completeWord = (value: string) => ["test", "testing"].filter((word) => word.startsWith(value));
  server.registerPrompt(
    "test_prompt_with_arguments",
    {
      description: "A prompt with two arguments.",
      argsSchema: z.object({ arg1: completable(z.string(), completeWord), arg2: z.string() }),
    },
    ({ arg1, arg2 }) => ({
      messages: [createMessage(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "A prompt around a resource.", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        user({
          type: "resource" as const,
          resource: {
            uri: resourceUri,
            mimeType: "text/plain",
            text: "Embedded resource content for testing.",
          },
        }),
        createMessage("Please process the embedded resource above."),
      ],
    }),
  );
  server.registerPrompt("test_prompt_with_image", { description: "A prompt with an image." }, () => ({
    messages: [
      user({ type: "image" as const, data: png, mimeType: "image/png" }),
      createMessage("Please analyze the image above."),
    ],
  }));
}
