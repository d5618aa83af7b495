import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { deflateSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readCpuMs, readThreadCpuMs } from "../../../capstan/src/testing/cpu-time.ts";
import { extract } from "./extract.ts";
import { extractHtml } from "./extract-html.ts";
import { measurePeakMemory } from "./testing/peak-memory.ts";
import { createPdf } from "./testing/tiny-pdf.ts";

const { signal } = new AbortController();

const extractPage = (html: string, url = "https://example.com/docs/page.html") =>
  extract({ bytes: Buffer.from(html), mediaType: "text/html", url }, { extract: true, signal });

/** In this thread, which saves the start of another. */
const extractInThread = (html: string) => extractHtml(html, "https://example.com/docs/page.html");

const extractBytes = (bytes: Uint8Array, mediaType: string, charset?: string) =>
  extract(
    { bytes, mediaType, url: "https://example.com/", ...(charset !== undefined && { charset }) },
    { extract: true, signal },
  );

const createArticle = (inside: string): string =>
  `<!doctype html><html><head><title>A page</title></head><body><article><h1>A page</h1>${inside}</article></body></html>`;
const words = "These are the words of a paragraph that is long enough to be taken for one. ".repeat(3);

describe("a page", () => {
  it("becomes Markdown with its structure (S4-40)", async () => {
    const html = createArticle(`<p>${words}</p><h2>Second</h2><ul><li>one</li><li><b>two</b></li></ul>
      <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><blockquote>said</blockquote>
      <p><a href="other">relative</a> <a href="/root">root</a> <a href="//host.example/x">host</a> ${words}</p>`);
    const { title, text } = await extractPage(html);
    expect(title).toBe("A page");
    for (const piece of ["## Second", "- one", "**two**", "| a | b |", "> said"])
      expect(text).toContain(piece);
    expect(text).toContain("[relative](https://example.com/docs/other)");
    expect(text).toContain("[root](https://example.com/root)");
    expect(text).toContain("[host](https://host.example/x)");
  });

  it.each([
    ["nothing but words", "just words"],
    ["a piece of a page", "<p>just words</p><p>and more</p>"],
    ["a page without a body", "<html>just words</html>"],
    ["unclosed elements", "<html><body><div><p>just words<p>and <b>more"],
    ["a title and a line", "<title>Named</title><p>just words</p>"],
  ])("that is %s is read (S4-40)", async (_what, html) => {
    expect((await extractInThread(html)).text).toContain("just words");
  });

  it("is empty when it is empty", async () => {
    expect((await extractPage("")).text).toBe("");
    expect((await extractInThread("<html><body></body></html>")).text).toBe("");
  });

  it("loses scripts, styles, comments and hidden elements (S4-40, A26)", async () => {
    const html = createArticle(`<p>${words}</p><script>bad1()</script><style>.bad2 {}</style><!-- bad3 -->
      <p style="display:none">bad4</p><p hidden>bad5</p><template>bad6</template><p onclick="bad7()">shown</p>
      <svg><script>bad8()</script></svg><p><a href="javascript:bad9()">link</a> ${words}</p>`);
    const { text } = await extractInThread(html);
    expect(text).toContain("shown");
    expect(text.match(/bad\d/g) ?? []).toEqual([]);
  });

  it.each([
    ["nested elements", "<div>".repeat(200_000)],
    ["nested elements with false ends", "<div></x>".repeat(100_000)],
    ["200,000 elements side by side", "<p>x</p>".repeat(200_000)],
    [
      "200,000 attributes",
      `<p ${Array.from({ length: 200_000 }, (_, index) => `a${index}=1`).join(" ")}>x</p>`,
    ],
    ["entities without end", "&amp;&lt;".repeat(500_000)],
    ["10 MB of open brackets", "<".repeat(9_999_999)],
    ["10 MB of one open tag", `<a ${"x".repeat(9_999_990)}`],
    ["3 MB of spaces", `<p>${" ".repeat(3_000_000)}x</p>`],
  ])("of %s ends soon, with bounded memory and the process alive (A26)", async (_what, html) => {
    let longestPause = 0;
    let last = readThreadCpuMs();
    const beat = setInterval(() => {
      longestPause = Math.max(longestPause, readThreadCpuMs() - last);
      last = readThreadCpuMs();
    }, 5);
    const started = readCpuMs();
    const grown = await measurePeakMemory(() =>
      extractPage(html).catch((error) =>
        expect(error).toMatchObject({ code: "tool_failed", retryable: false }),
      ),
    );
    clearInterval(beat);
    expect(readCpuMs() - started).toBeLessThan(30_000);
    expect(longestPause).toBeLessThan(1500);
    expect(grown).toBeLessThan(500);
  });

  it("of 2,000 elements is read, and one of realistic depth", async () => {
    expect(
      (await extractInThread(createArticle(`<p>${words}</p>`.repeat(1000)))).text.length,
    ).toBeGreaterThan(100_000);
    expect(
      (await extractPage(createArticle(`${"<div>".repeat(100)}<p>${words}</p>${"</div>".repeat(100)}`))).text,
    ).toContain(words.trim());
  });

  it("with an external entity is read without it (A26)", async () => {
    const html = `<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]>${createArticle(`<p>&x; ${words}</p>`)}`;
    expect((await extractInThread(html)).text).not.toContain("root:");
  });
});

describe("an extraction", () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
    vi.unstubAllGlobals();
  });

  it("loads nothing that a page refers to (A26)", async () => {
    let touches = 0;
    const canary = createServer((_request, response) => {
      touches += 1;
      response.end();
    });
    servers.push(canary);
    await new Promise<void>((resolve) => canary.listen(0, "127.0.0.1", resolve));
    const at = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
    const html =
      createArticle(`<p>${words}</p><img src="${at}/a.png"><link rel="stylesheet" href="${at}/b.css">
      <script src="${at}/c.js"></script><iframe src="${at}/d"></iframe><svg><use href="${at}/e"/></svg>
      <video poster="${at}/f" src="${at}/g"></video><object data="${at}/h"></object><style>@import "${at}/i"</style>`);
    expect((await extractPage(html)).text).toContain("These are the words");
    expect(touches).toBe(0);
  });

  it.each([
    ...["https://www.youtube.com/watch?v=dQw4w9WgXcQ", "https://x.com/someone/status/1234567890"],
    ...["https://www.reddit.com/r/a/comments/b/c/", "https://wiki.c2.com/?CapstanWinch"],
    ...["https://www.bilibili.com/video/BV1xx411c7mD", "https://twitter.com/someone/article/1234567890"],
  ])("contacts no service about %s, although the library has one (A26)", async (url) => {
    const asked: unknown[] = [];
    vi.stubGlobal("fetch", async (place: unknown) => {
      asked.push(place);
      return new Response("{}");
    });
    // In this thread, where its `fetch` can be watched. A page without words is what makes the library ask.
    for (const html of ["<html><head><title>x</title></head><body></body></html>", createArticle(words)])
      await extractHtml(html, url).catch(() => undefined);
    expect(asked).toEqual([]);
  });

  it("ends when the run is cancelled", async () => {
    const controller = new AbortController();
    const document = {
      bytes: Buffer.from(createArticle(words)),
      mediaType: "text/html",
      url: "https://example.com/",
    };
    const work = extract(document, { extract: true, signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(work).rejects.toThrow("enough");
  });

  it("waits for its turn among many, and all of them end", async () => {
    const texts = await Promise.all(
      Array.from({ length: 6 }, (_, index) => extractPage(createArticle(`<p>${words} number ${index}</p>`))),
    );
    expect(texts.map(({ text }) => /number (\d+)/.exec(text)?.[1])).toEqual(
      Array.from({ length: 6 }, (_, index) => String(index)),
    );
  });
});

describe("a text", () => {
  it.each([
    ["utf-8", Buffer.from("Grüße"), "utf-8"],
    ["latin1", Buffer.from("Grüße", "latin1"), "iso-8859-1"],
    ["utf-16le", Buffer.from("Grüße", "utf16le"), "utf-16le"],
    ["utf-8 with a mark and a lying header", Buffer.from("\ufeffGrüße"), "iso-8859-1"],
    ["utf-8, untold", Buffer.from("Grüße"), undefined],
    ["latin1, untold", Buffer.from("Grüße", "latin1"), undefined],
    ["shift_jis", Buffer.from([0x93, 0xfa, 0x96, 0x7b]), "shift_jis"],
  ])("in %s is read (A25)", async (name, bytes, charset) => {
    const expected = name === "shift_jis" ? "日本" : "Grüße";
    expect((await extractBytes(bytes, "text/plain", charset)).text).toBe(expected);
  });

  it("is read in the charset of its meta tag (A25)", async () => {
    const html = Buffer.from(
      `<html><head><meta charset="iso-8859-1"><title>Grüße</title></head><body><p>x</p></body></html>`,
      "latin1",
    );
    expect((await extractBytes(html, "text/html")).title).toBe("Grüße");
  });

  it.each([
    "utf-7",
    "UTF-7",
    "unicode-1-1-utf-7",
    "iso-2022-kr",
    "hz-gb-2312",
    "utf-32",
    "nonsense",
    "../etc",
  ])("in %s is refused (A25)", async (charset) => {
    const bytes = Buffer.from("+ADw-script+AD4-alert(1)+ADw-/script+AD4-");
    await expect(extractBytes(bytes, "text/html", charset)).rejects.toMatchObject({
      code: "security",
      message: expect.stringContaining("(rule: charset)"),
    });
  });

  it("of 9 MB is truncated with a note", async () => {
    const { text } = await extractBytes(Buffer.alloc(9_000_000, "x"), "text/plain");
    expect(text.length).toBeLessThan(1_000_100);
    expect(text).toContain("(truncated)");
  });
});

describe("a PDF", () => {
  it("is read page by page, with its title (A27)", async () => {
    const { title, text } = await extractBytes(
      createPdf(["The first page.", "The second."], "On PDF"),
      "application/pdf",
    );
    expect(title).toBe("On PDF");
    expect(text).toBe("The first page.\n\nThe second.");
  });

  it("of more pages than are read states the number of missing ones (A27)", async () => {
    const { text } = await extractBytes(
      createPdf(Array.from({ length: 310 }, (_, index) => `page ${index}`)),
      "application/pdf",
    );
    expect(text).toContain("page 299");
    expect(text).not.toContain("page 300");
    expect(text).toContain("10 more pages");
  });

  const bomb = deflateSync(Buffer.alloc(300_000_000, " "));

  it.each([
    ["no PDF at all", Buffer.from("hello")],
    ["half a PDF", createPdf(["x"]).subarray(0, 300)],
    ["a page that grows to 300 MB", createPdf([{ content: bomb, filter: "/FlateDecode" }])],
    [
      "a page that grows twice",
      createPdf([{ content: deflateSync(bomb), filter: "[/FlateDecode /FlateDecode]" }]),
    ],
    [
      "many such pages",
      createPdf(Array.from({ length: 30 }, () => ({ content: bomb, filter: "/FlateDecode" }))),
    ],
    [
      "a million pages that are not there",
      Buffer.from(createPdf(["x"]).toString("latin1").replace("/Count 1", "/Count 1000000"), "latin1"),
    ],
  ])("that is %s ends soon, with bounded memory and the process alive (A27)", async (_what, bytes) => {
    const started = readCpuMs();
    const grown = await measurePeakMemory(() =>
      extractBytes(bytes, "application/pdf").then(
        ({ text }) => expect(text.length).toBeLessThan(1_000_100),
        (error) => expect(error).toMatchObject({ code: "tool_failed", retryable: false }),
      ),
    );
    expect(readCpuMs() - started).toBeLessThan(30_000);
    expect(grown).toBeLessThan(700);
  });
});
