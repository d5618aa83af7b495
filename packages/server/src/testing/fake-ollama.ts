import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type FakeOllama = {
  /** For `OLLAMA_HOST`. */
  readonly host: string;
  /** The paths that were requested. */
  readonly requests: readonly string[];
  close(): void;
};

/** Answers like Ollama: lists these models, and streams one text for every chat. */
export async function startFakeOllama(models: readonly string[], text: string): Promise<FakeOllama> {
  const requests: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    requests.push(url);
    if (url === "/api/tags") {
      response.end(JSON.stringify({ models: models.map((name) => ({ name })) }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const chunks = [{ delta: { content: text } }, { delta: {}, finish_reason: "stop" }];
    for (const chunk of chunks)
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...chunk }] })}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => server.close().closeAllConnections(),
  };
}
