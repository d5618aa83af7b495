import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { findModelsOnMachine } from "./model-files.ts";

it("lists the models of a server that takes a second to answer", async () => {
  const server = createServer((_, response) => {
    setTimeout(() => response.end(JSON.stringify({ models: [{ name: "tiny" }] })), 1000);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const nowhere = "127.0.0.1:9";
  const env = {
    CAPSTAN_HOME: "/nonexistent",
    OLLAMA_HOST: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ LMSTUDIO_HOST: nowhere, LLAMACPP_HOST: nowhere, VLLM_HOST: nowhere },
  };
  expect(await findModelsOnMachine(env)).toEqual(["ollama/tiny"]);
});
