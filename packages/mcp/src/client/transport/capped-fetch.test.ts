import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { array, assert, asyncProperty, constantFrom, nat } from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withSizeLimit } from "./capped-fetch.ts";

const mebibyte = 1024 * 1024;

/** A fetch whose answer comes in these pieces. */
function createFetch(type: string, pieces: Iterable<Uint8Array>): typeof globalThis.fetch {
  const left = pieces[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const { done, value } = left.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
  });
  return async () => new Response(body, { headers: { "content-type": type } });
}

async function countReceivedBytes(fetch: typeof globalThis.fetch): Promise<number> {
  const response = await withSizeLimit(fetch)("http://127.0.0.1/");
  let bytes = 0;
  for await (const chunk of response.body ?? []) bytes += (chunk as Uint8Array).byteLength;
  return bytes;
}

const tooLarge = { code: "mcp_protocol", message: "A message is larger than 10485760 bytes." };

/** A stream of so many bytes in events of that size, cut every so often. */
function* events(
  size: number,
  count: number,
  { end, cut }: { end: string; cut: number },
): Generator<Uint8Array> {
  const event = Buffer.from(`data: ${"x".repeat(size)}${end}`);
  const all = Buffer.concat(new Array<Buffer>(count).fill(event));
  for (let from = 0; from < all.length; from += cut) yield all.subarray(from, from + cut);
}

describe("a fetch with a cap (A53)", () => {
  it("lets a response of 10 MiB through, and nothing larger", async () => {
    const pieces = (last: number) => [
      ...new Array<Uint8Array>(10).fill(new Uint8Array(mebibyte)),
      new Uint8Array(last),
    ];
    await expect(countReceivedBytes(createFetch("application/json", pieces(0)))).resolves.toBe(10 * mebibyte);
    await expect(countReceivedBytes(createFetch("application/json", pieces(1)))).rejects.toMatchObject(
      tooLarge,
    );
  });

  it("measures each event of a stream, whatever the line endings and chunks", async () => {
    const ends = constantFrom("\n\n", "\r\n\r\n", "\r\r", "\n\r\n", "\r\n\n");
    await assert(
      asyncProperty(ends, nat(70_000), async (end, cut) => {
        const stream = events(mebibyte, 11, { end, cut: cut + 5_000 });
        await expect(countReceivedBytes(createFetch("text/event-stream", stream))).resolves.toBeGreaterThan(
          11 * mebibyte,
        );
      }),
      { numRuns: 5 },
    );
  });

  it("ends a stream at an event that is too large, whatever the chunks", async () => {
    await assert(
      asyncProperty(
        constantFrom("\n\n", "\r\n\r\n"),
        array(nat(mebibyte), { maxLength: 3 }),
        async (end, cuts) => {
          const cut = 5_000 + cuts.reduce((sum, one) => sum + one, 0) * 8;
          const stream = events(11 * mebibyte, 1, { end, cut });
          await expect(
            countReceivedBytes(createFetch("text/event-stream; charset=utf-8", stream)),
          ).rejects.toMatchObject(tooLarge);
        },
      ),
      { numRuns: 5 },
    );
  });

  describe("over a socket", () => {
    let server: Server;
    let url = "";
    beforeAll(async () => {
      server = createServer((request, response) => {
        if (request.url === "/empty") response.writeHead(204).end();
        else if (request.url === "/moved") response.writeHead(302, { location: "/there" }).end();
        else response.writeHead(418, { "x-a": "1" }).end("a teapot");
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterAll(() => server.close());

    it("keeps status, headers, the final address and an empty body", async () => {
      const capped = withSizeLimit(fetch);
      const moved = await capped(`${url}/moved`);
      expect(moved).toMatchObject({ status: 418, statusText: "I'm a Teapot", url: `${url}/there` });
      expect(moved.headers.get("x-a")).toBe("1");
      await expect(moved.text()).resolves.toBe("a teapot");
      expect(await capped(`${url}/empty`)).toMatchObject({ status: 204, body: null });
    });
  });
});
