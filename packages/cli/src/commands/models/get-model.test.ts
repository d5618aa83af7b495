import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../testing/cli-in-process.ts";
import { type DownloadOptions, downloadFile } from "./download-file.ts";

let folder: string;
const closers: (() => void)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-get-"));
});
afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await rm(folder, { recursive: true });
});

async function listen(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  closers.push(() => server.close().closeAllConnections());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const content = randomBytes(300_000);
const hash = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

type FileServer = {
  readonly url: string;
  readonly requests: IncomingMessage[];
  file: Buffer;
  etag: string;
  /** Breaks the connection when the client has received all that is sent of it. */
  onProgress(progress: { readonly bytes: number }): void;
};

/** Serves a file behind a redirect, as Hugging Face does. `cut` returns after how many bytes a connection breaks off. */
async function serveFile(cut: (count: number) => number | undefined, checksum?: string): Promise<FileServer> {
  const requests: IncomingMessage[] = [];
  let breakOff: ((bytes: number) => void) | undefined;
  const onProgress = ({ bytes }: { readonly bytes: number }) => breakOff?.(bytes);
  const server = { url: "", requests, file: content, etag: '"v1"', onProgress };
  const respond = (request: IncomingMessage, response: ServerResponse) => {
    const start = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const isRange = start > 0 && request.headers["if-range"] === server.etag;
    const body = server.file.subarray(isRange ? start : 0);
    response.writeHead(isRange ? 206 : 200, {
      etag: server.etag,
      "content-length": body.length,
      ...(isRange && { "content-range": `bytes ${start}-${server.file.length - 1}/${server.file.length}` }),
    });
    const end = cut(requests.length);
    breakOff = undefined;
    if (end === undefined) response.end(body);
    else {
      response.write(body.subarray(0, end));
      const last = (isRange ? start : 0) + end;
      breakOff = (bytes) => void (bytes === last && response.socket?.destroy());
    }
  };
  const base = await listen((request, response) => {
    if (request.url === "/model") {
      response.writeHead(302, { location: "/blob", ...(checksum && { "x-linked-etag": `"${checksum}"` }) });
      response.end();
      return;
    }
    requests.push(request);
    respond(request, response);
  });
  server.url = `${base}/model`;
  return server;
}

const download = (url: string, more: Partial<DownloadOptions> = {}) =>
  downloadFile({ url, file: join(folder, "m.gguf"), retryMs: 1, ...more });

describe("a download", () => {
  it("continues after broken connections, and is verified with the server's checksum", async () => {
    const server = await serveFile((count) => (count < 4 ? 50_000 : undefined), hash(content));
    const progress: number[] = [];
    const onProgress: DownloadOptions["onProgress"] = (one) => {
      progress.push(one.bytes);
      server.onProgress(one);
    };
    const result = await download(server.url, { onProgress });
    expect(result).toEqual({ bytes: content.length, sha256: hash(content), isVerified: true });
    expect(await readFile(join(folder, "m.gguf"))).toEqual(content);
    expect(await readdir(folder)).toEqual(["m.gguf"]);
    expect(server.requests.length).toBe(4);
    expect(server.requests.slice(1).every(({ headers }) => headers["if-range"] === '"v1"')).toBe(true);
    expect(progress.at(-1)).toBe(content.length);
  });

  it("is continued by a later command", async () => {
    const controller = new AbortController();
    const first = await serveFile((count) => (count === 1 ? 60_000 : undefined));
    const onProgress: DownloadOptions["onProgress"] = ({ bytes }) => {
      if (bytes === 60_000) controller.abort();
    };
    const stopped = download(first.url, { signal: controller.signal, onProgress });
    await expect(stopped).rejects.toThrow();
    expect(await readdir(folder)).toEqual(["m.gguf.part", "m.gguf.part.json"]);
    await download(first.url);
    expect(first.requests[1]?.headers.range).toBe("bytes=60000-");
    expect(await readFile(join(folder, "m.gguf"))).toEqual(content);
  });

  it("starts over if the file has changed on the server", async () => {
    const server = await serveFile((count) => {
      if (count > 1) return undefined;
      setImmediate(() => Object.assign(server, { file: changed, etag: '"v2"' }));
      return 40_000;
    });
    const changed = randomBytes(200_000);
    expect(
      await download(server.url, { sha256: hash(changed), onProgress: server.onProgress }),
    ).toMatchObject({ bytes: 200_000 });
    expect(await readFile(join(folder, "m.gguf"))).toEqual(changed);
  });

  it("with a wrong checksum is removed, and is a named error", async () => {
    const server = await serveFile(() => undefined, hash(content));
    const problem = { code: "model_file_invalid", message: expect.stringContaining(hash(content)) };
    await expect(download(server.url, { sha256: "0".repeat(64) })).rejects.toMatchObject(problem);
    expect(await readdir(folder)).toEqual([]);
  });

  it("that the server does not have is not tried again", async () => {
    let count = 0;
    const url = await listen((_, response) => {
      count++;
      response.writeHead(404).end();
    });
    await expect(download(url)).rejects.toMatchObject({ code: "model_not_found" });
    expect(count).toBe(1);
  });

  it("gives up after several failures without progress", async () => {
    let count = 0;
    const url = await listen((_, response) => {
      count++;
      response.writeHead(503).end();
    });
    await expect(download(url)).rejects.toMatchObject({ code: "model_unreachable" });
    expect(count).toBe(5);
  });

  it("is not led from https to another protocol", async () => {
    const fetch = async () =>
      new Response(null, { status: 302, headers: { location: "http://127.0.0.1/m" } });
    const options = { url: "https://example.org/m", file: join(folder, "m.gguf"), fetch };
    await expect(downloadFile(options)).rejects.toMatchObject({ code: "security" });
  });
});

describe("capstan models get", () => {
  const closed = "127.0.0.1:9";
  const env = () => ({
    CAPSTAN_HOME: folder,
    HOME: folder,
    ...{ OLLAMA_HOST: closed, LMSTUDIO_HOST: closed, LLAMACPP_HOST: closed, VLLM_HOST: closed },
  });
  const cli = (...words: string[]) => runCli(["models", ...words], { folder, env: env() });

  it("lists models with their sizes and licenses", async () => {
    const { code, stdout } = await cli("get");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^qwen3-4b +2\.5 GB +Apache-2\.0$/m);
  });

  it("downloads a file by its address, which capstan models then lists", async () => {
    const server = await serveFile(() => undefined);
    const got = await cli("get", "mine", "--url", server.url, "--sha256", hash(content));
    expect(got).toMatchObject({ code: 0, stdout: "local/mine\n" });
    expect(got.stderr).toContain("100 %");
    expect(await readFile(join(folder, "models", "mine.gguf"))).toEqual(content);
    const listed = JSON.parse((await cli("--json")).stdout) as { model?: string; key: object }[];
    expect(listed).toContainEqual(
      expect.objectContaining({ model: "local/mine", key: { type: "not_needed" } }),
    );
    expect((await cli("get", "mine", "--url", server.url)).stderr).toContain("--force");
  });

  it("says that a file without a checksum is not verified", async () => {
    const server = await serveFile(() => undefined);
    expect((await cli("get", "other", "--url", server.url)).stderr).toContain("not verified");
  });

  it.each([
    [["get", "qwen3-4"], 'Did you mean "qwen3-4b"?'],
    [["get", "../x", "--url", "http://127.0.0.1/"], "Invalid name"],
    [["get", "x", "--url", "file:///etc/passwd"], "Invalid --url"],
    [["get", "x", "--url", "http://127.0.0.1/", "--sha256", "abc"], "64 hexadecimal"],
  ])("rejects %j", async (words, message) => {
    const { code, stderr } = await cli(...words);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
  });

  it("lists the models of a running server", async () => {
    const tags = { models: [{ name: "qwen3:4b", details: { family: "qwen3" } }] };
    const url = await listen((_, response) => response.end(JSON.stringify(tags)));
    const { stdout } = await runCli(["models"], { folder, env: { ...env(), OLLAMA_HOST: url } });
    expect(stdout).toContain("ollama/qwen3:4b");
  });
});
