import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { createHelloAgent } from "../testing/hello-agent.ts";
import { createTestServer } from "../testing/test-server.ts";
import { readJsonBody } from "./read-body.ts";

function post(body: BodyInit | ReadableStream, headers: Record<string, string> = {}): Request {
  const given = { "content-type": "application/json", ...headers };
  return new Request("http://127.0.0.1/", {
    method: "POST",
    body,
    headers: given,
    duplex: "half",
  } as RequestInit);
}

it("reads JSON, and returns undefined for an empty body", async () => {
  expect(await readJsonBody(post('{"a":"é"}'))).toEqual({ a: "é" });
  expect(await readJsonBody(new Request("http://127.0.0.1/", { method: "POST" }))).toBeUndefined();
});

it("a body whose content-length is too large is not read (A89)", async () => {
  let pulled = 0;
  const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 });
  const request = post(body, { "content-length": `${4 * 1024 * 1024 + 1}` });
  await expect(readJsonBody(request)).rejects.toMatchObject({
    code: "body_too_large",
    message: "The body exceeds the limit of 4194304 bytes.",
  });
  expect(pulled).toBe(0);
});

it("a body larger than its content-length is read up to the limit and no further (A89)", async () => {
  let pulled = 0;
  const body = new ReadableStream({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(1024));
    },
  });
  await expect(readJsonBody(post(body), { maxBytes: 10_000 })).rejects.toMatchObject({
    code: "body_too_large",
  });
  expect(pulled).toBeLessThan(15);
});

it("a body that never ends in coming is given up (A89)", async () => {
  let isCancelled = false;
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
    cancel() {
      isCancelled = true;
    },
  });
  await expect(readJsonBody(post(body), { timeoutMs: 50 })).rejects.toMatchObject({
    code: "request_timeout",
  });
  expect(isCancelled).toBe(true);
});

it("nothing is unpacked (A89)", async () => {
  const bomb = gzipSync(JSON.stringify("0".repeat(5_000_000)));
  for (const encoding of ["gzip", "br", "deflate", "gzip, gzip", "zstd"])
    await expect(readJsonBody(post(bomb, { "content-encoding": encoding }))).rejects.toMatchObject({
      code: "unsupported_media_type",
    });
});

it("a body that is not JSON in UTF-8 is refused (A89, A90)", async () => {
  const expectRefusal = async (request: Request, code: string) =>
    expect(readJsonBody(request)).rejects.toMatchObject({ code });
  await expectRefusal(post(new Uint8Array([0x22, 0xff, 0x22])), "invalid_input");
  await expectRefusal(post(new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])), "invalid_input"); // half of a surrogate pair
  await expectRefusal(post("{]"), "invalid_input");
  await expectRefusal(post("{}", { "content-type": "text/plain" }), "unsupported_media_type");
  const untyped = new Request("http://127.0.0.1/", { method: "POST", body: new TextEncoder().encode("{}") });
  await expectRefusal(untyped, "unsupported_media_type");
  const form = new FormData();
  form.set("files", "/etc/passwd");
  await expectRefusal(
    new Request("http://127.0.0.1/", { method: "POST", body: form }),
    "unsupported_media_type",
  );
});

it("a prompt that is too long, or has too many images, is refused with the figure and starts nothing (A115)", async () => {
  const server = createTestServer({ agents: [createHelloAgent()] });
  const image = { type: "image", mediaType: "image/png", data: "AA==" };
  const cases = [
    { input: "x".repeat(1_000_001), status: 400, figure: /1.?000.?000/ },
    { input: Array.from({ length: 10_000 }, () => image), status: 400, figure: /100\b/ },
    { input: Array.from({ length: 1_000_000 }, () => 0), status: 400, figure: /100000 items/ },
    { input: "x".repeat(5_000_000), status: 413, figure: /4194304 bytes/ },
  ];
  for (const { input, status, figure } of cases) {
    const answer = await server.send("POST", "/api/runs", { input });
    expect(answer.status).toBe(status);
    expect(await answer.text()).toMatch(figure);
  }
  expect((await (await server.send("GET", "/api/runs")).json()).runs).toEqual([]);
  await server.close(0);
});
