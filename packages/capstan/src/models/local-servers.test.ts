import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { findLocalServers, getLocalServerUrl } from "./local-servers.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function listen(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  closers.push(() => server.close().closeAllConnections());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Serves JSON by path; other paths are not found. */
const serveJson = (bodies: { readonly [path: string]: unknown }): Promise<string> =>
  listen(({ url = "" }, response) => {
    response.writeHead(url in bodies ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(bodies[url] ?? { error: "not found" }));
  });

const closed = "127.0.0.1:9";
const none = { OLLAMA_HOST: closed, LMSTUDIO_HOST: closed, LLAMACPP_HOST: closed, VLLM_HOST: closed };

const ollamaTags = {
  models: [
    { name: "qwen3:4b", model: "qwen3:4b", size: 2_600_000_000, details: { family: "qwen3" } },
    { name: "nomic-embed-text:latest", details: { family: "nomic-bert" } },
  ],
};
const lmStudioModels = {
  object: "list",
  data: [
    { id: "qwen2-vl-7b-instruct", object: "model", type: "vlm", state: "not-loaded" },
    { id: "meta-llama-3.1-8b-instruct", object: "model", type: "llm", state: "loaded" },
    { id: "text-embedding-nomic-embed-text-v1.5", object: "model", type: "embeddings" },
  ],
};
// llama-server repeats its list in Ollama's format, without the owner.
const llamaModels = {
  models: [{ name: "/models/gemma.gguf", model: "/models/gemma.gguf" }],
  object: "list",
  data: [{ id: "/models/gemma.gguf", object: "model", created: 1, owned_by: "llamacpp", meta: {} }],
};
const vllmModels = {
  object: "list",
  data: [{ id: "Qwen/Qwen3-8B", owned_by: "vllm", max_model_len: 40960 }],
};

describe("finding local model servers", () => {
  it("finds each kind with its models that can chat, in a fixed order", async () => {
    const env = {
      VLLM_HOST: await serveJson({ "/v1/models": vllmModels }),
      LLAMACPP_HOST: await serveJson({ "/v1/models": llamaModels }),
      LMSTUDIO_HOST: await serveJson({ "/api/v0/models": lmStudioModels }),
      OLLAMA_HOST: await serveJson({ "/api/tags": ollamaTags }),
    };
    expect(await findLocalServers({ env, timeoutMs: 10_000 })).toEqual([
      { name: "ollama", url: `http://${env.OLLAMA_HOST}`, models: ["qwen3:4b"] },
      {
        name: "lmstudio",
        url: `http://${env.LMSTUDIO_HOST}`,
        models: ["qwen2-vl-7b-instruct", "meta-llama-3.1-8b-instruct"],
      },
      { name: "llamacpp", url: `http://${env.LLAMACPP_HOST}`, models: ["/models/gemma.gguf"] },
      { name: "vllm", url: `http://${env.VLLM_HOST}`, models: ["Qwen/Qwen3-8B"] },
    ]);
  });

  it("leaves out servers that do not run, have no models, fail, or are another program on the port", async () => {
    const other = { data: [{ id: "gpt", owned_by: "openai" }, null, 7] };
    const env = {
      OLLAMA_HOST: await serveJson({ "/api/tags": { models: [] } }),
      LMSTUDIO_HOST: await listen((_, response) => response.writeHead(500).end("{}")),
      LLAMACPP_HOST: await serveJson({ "/v1/models": other }),
      VLLM_HOST: await listen((_, response) => response.end("<html>")),
    };
    expect(await findLocalServers({ env, timeoutMs: 10_000 })).toEqual([]);
    expect(await findLocalServers({ env: none, timeoutMs: 10_000 })).toEqual([]);
  });

  it("does not wait for a server that never answers, nor after the caller has lost interest", async () => {
    const env = { ...none, OLLAMA_HOST: await listen(() => undefined) };
    expect(await findLocalServers({ env, timeoutMs: 20 })).toEqual([]);
    const signal = AbortSignal.abort();
    expect(await findLocalServers({ env, timeoutMs: 600_000, signal })).toEqual([]);
  });

  it.each([
    [undefined, "http://127.0.0.1:11434"],
    ["", "http://127.0.0.1:11434"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["0.0.0.0:8000", "http://127.0.0.1:8000"],
    ["[::]:8000", "http://[::1]:8000"],
    ["box.lan", "http://box.lan:11434"],
    ["http://box.lan:80/", "http://box.lan"],
    ["https://box.lan/ollama/", "https://box.lan/ollama"],
    ["not a host", "http://127.0.0.1:11434"],
  ])("reads the address %j as %s", (value, url) => {
    expect(getLocalServerUrl("ollama", { OLLAMA_HOST: value })).toBe(url);
  });
});
