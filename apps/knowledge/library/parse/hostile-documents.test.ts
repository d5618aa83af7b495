import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { createParserWorker } from "../../../import/parse-in-worker.ts";
import { buildZip, type ZipFixtureEntry } from "../../../import/testing/write-zip.ts";
import { findFiles } from "../find-files.ts";
import { documentLimits, parseDocument } from "./parse-document.ts";

const folder = mkdtempSync(join(tmpdir(), "hostile-documents-"));
const worker = createParserWorker(documentLimits);
/** For files that would take as long as they may. */
const hastyWorker = createParserWorker({ timeoutMs: 1500, memoryMb: 128 });
afterAll(async () => {
  await Promise.all([worker.close(), hastyWorker.close()]);
  rmSync(folder, { recursive: true });
});

function write(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const parse = (path: string) => parseDocument(path, worker);
const parseText = async (name: string, content: string | Uint8Array) =>
  (await parse(write(name, content))).sections.map(({ heading, text }) => [heading, text]);

const document = (body: string, doctype = ""): ZipFixtureEntry[] => [
  {
    path: "[Content_Types].xml",
    content:
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
  },
  {
    path: "_rels/.rels",
    content:
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
  },
  {
    path: "word/document.xml",
    content: `<?xml version="1.0"?>${doctype}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>${body}</w:t></w:r></w:p></w:body></w:document>`,
  },
];
const book = (title: string, doctype: string): ZipFixtureEntry[] => [
  { path: "META-INF/container.xml", content: `${doctype}<rootfile full-path="p/book.opf"/>` },
  {
    path: "p/book.opf",
    content: `<?xml version="1.0"?>${doctype}<package><dc:title>${title}</dc:title><item id="a" href="a%20b.xhtml"/><item id="b" href="../../../../etc/hosts"/><itemref idref="a"/><itemref idref="b"/></package>`,
  },
  { path: "p/a b.xhtml", content: `${doctype}<title>One</title><p>Text ${title}</p>` },
];

describe("hostile and damaged files", () => {
  const canary = write("canary.txt", "canary-secret");
  async function startServer(): Promise<{ readonly url: string; readonly requests: string[] }> {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(request.url ?? "");
      response.end("canary-secret");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.close();
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests };
  }

  it("cannot read files or addresses through XML entities (XXE), and no entity is expanded", async () => {
    const { url, requests } = await startServer();
    const laughs = `<!ENTITY a "${"ha".repeat(5000)}">${Array.from({ length: 8 }, (_, n) => `<!ENTITY b${n} "${(n === 0 ? "&a;" : `&b${n - 1};`).repeat(10)}">`).join("")}`;
    for (const entity of [
      `<!ENTITY x SYSTEM "file://${canary}">`,
      `<!ENTITY x SYSTEM "${url}">`,
      `${laughs}<!ENTITY x "&b7;">`,
    ]) {
      const doctype = `<!DOCTYPE d [${entity}]>`;
      for (const [name, entries] of [
        ["xxe.docx", document("Word &x;", doctype)],
        ["xxe.epub", book("Title &x;", doctype)],
      ] as const) {
        const parsed = await parse(write(name, buildZip(entries))).catch((error: unknown) => error);
        const text = JSON.stringify(parsed);
        expect(text).not.toContain("canary-secret");
        expect(text.length).toBeLessThan(2000);
      }
    }
    expect(requests).toEqual([]);
  });

  it("reads the book and the document of that test without the entities", async () => {
    expect(await parseText("plain.docx", buildZip(document("Word")))).toEqual([["", "Word"]]);
    expect(await parseText("plain.epub", buildZip(book("Title", "")))).toEqual([["One", "Text Title"]]);
  });

  it("does not unpack an archive inside of a document, nor one with names that leave it", async () => {
    const bomb = buildZip([{ path: "huge.xml", content: Buffer.alloc(20_000_000) }]);
    const nested: ZipFixtureEntry = { path: "word/embeddings/bomb.docx", content: bomb };
    expect(await parseText("nested.docx", buildZip([...document("Word"), nested]))).toEqual([["", "Word"]]);
    for (const path of ["../../word/escape.xml", "/etc/passwd", "word\\..\\..\\..\\escape.xml"]) {
      const entries = [...document("Word"), { path, content: "escaped" }];
      for (const extension of ["docx", "epub"])
        await expect(parse(write(`escape.${extension}`, buildZip(entries)))).rejects.toMatchObject({
          code: "file_invalid",
          message: expect.stringMatching(
            /^It is not a readable ZIP archive: (?:invalid relative|absolute) path/,
          ),
        });
    }
  });

  it.each(["docx", "epub"])("refuses a zip bomb as .%s", async (extension) => {
    const bomb: ZipFixtureEntry = { path: "word/huge.xml", content: Buffer.alloc(20_000_000) };
    const path = write(`bomb.${extension}`, buildZip([...document("Word"), bomb]));
    await expect(parse(path)).rejects.toMatchObject({
      code: "file_limit",
      message: expect.stringContaining("unpacks to more than 200 times its size"),
    });
  });

  it.each([
    ["broken.pdf", "%PDF-1.7 nothing else", "file_invalid"],
    ["broken.docx", "PK nothing else", "file_invalid"],
    ["broken.epub", buildZip([{ path: "a", content: "" }]), "file_invalid"],
    ["image.txt", Buffer.from([0x89, 0x50, 0, 0, 1]), "file_invalid"],
    ["empty.md", " \n", "file_invalid"],
    ["quotes.csv", 'a\n"open', "file_invalid"],
    ["photo.png", "pixels", "file_invalid"],
  ])("names what is wrong with %s", async (name, content, code) => {
    await expect(parse(write(name, content))).rejects.toMatchObject({ code, message: /./ });
  });

  it("does not read a text of 200 MB", async () => {
    const path = write("huge.txt", "");
    truncateSync(path, 200_000_000);
    expect(await findFiles([path])).toMatchObject({
      documents: [],
      skipped: [{ item: "huge.txt", reason: "The file is larger than 50 MB." }],
    });
  });
});

describe("a PDF", () => {
  const catalog = "<< /Type /Catalog /Pages 2 0 R >>";
  const page = "<< /Type /Page /Parent 2 0 R /Resources << /Font << /F 5 0 R >> >> /Contents 4 0 R >>";
  const content = buildStream("BT /F 12 Tf (Hello) Tj ET");
  const font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
  const buildPages = (kids: string, count: number) => `<< /Type /Pages /Kids [${kids}] /Count ${count} >>`;
  const onePage = [catalog, buildPages("3 0 R", 1), page, content, font];

  it.each([
    ["a table of objects that continues with itself", buildPdf(onePage, "/Prev SELF")],
    ["a table of objects that is its own stream", buildPdf(onePage, "/XRefStm SELF")],
    ["a billion pages that do not exist", buildPdf([catalog, buildPages("3 0 R", 1e9), page, content, font])],
  ])("with %s is read as far as it has pages", async (_, bytes) => {
    expect((await parse(write("odd.pdf", bytes))).sections).toMatchObject([{ heading: "Page 1" }]);
  });

  it.each([
    ["pages that contain themselves", [catalog, buildPages("2 0 R 2 0 R", 1e9)]],
    [
      "a content whose length is itself",
      [catalog, buildPages("3 0 R", 1), page, "<< /Length 4 0 R >>", font],
    ],
    ["half a million open brackets", [catalog, `${buildPages("3 0 R", 1)} ${"[".repeat(500_000)}`, page]],
    [
      "a hundred thousand pages in one list",
      [catalog, buildPages("3 0 R ".repeat(1e5), 1e5), page, content, font],
    ],
    [
      "a text without end",
      [catalog, buildPages("3 0 R", 1), page, buildPacked(`BT ${"(a) Tj ".repeat(6e6)} ET`)],
    ],
    ["a bomb", [catalog, buildPages("3 0 R", 1), page, buildPacked(Buffer.alloc(200_000_000, " "))]],
  ])("with %s is refused by name, in the time and memory it may take", async (_, objects) => {
    await expect(parseDocument(write("endless.pdf", buildPdf(objects)), hastyWorker)).rejects.toMatchObject({
      code: /^file_(?:limit|invalid)$/,
      message: /./,
    });
  });

  it("with a damaged page is read without it, and says so", async () => {
    const objects = [catalog, buildPages("3 0 R 6 0 R 3 0 R", 3), page, content, font, "(no page)"];
    const { sections, note } = await parse(write("damaged.pdf", buildPdf(objects)));
    // The parser counts pages up to the damaged one.
    expect(sections.map(({ heading }) => heading)).toEqual(["Page 1"]);
    expect(note).toBe("1 of 2 pages are damaged and were left out.");
  });
});

describe("mail", () => {
  it.each([
    ["one line without end", "a".repeat(20_000_000)],
    ["headers without end", "A: b\n".repeat(1_000_000)],
    ["parts in parts in parts", Array.from({ length: 5000 }, (_, n) => buildPart(n)).join("")],
  ])("with %s is refused by name", async (_, text) => {
    const path = write("endless.mbox", `From a Mon Nov 2\n${text}`);
    await expect(parseDocument(path, hastyWorker)).rejects.toMatchObject({
      code: /^file_(?:limit|invalid)$/,
      message: expect.stringMatching(/Maximum|takes/),
    });
  });

  it("with a body of one line without end is read up to the limit of passages", async () => {
    const path = write("line.mbox", `From a Mon Nov 2\nSubject: Long\n\n${"a".repeat(31_000_000)}`);
    const { sections, note } = await parse(path);
    expect([sections.length, note]).toEqual([
      20_000,
      expect.stringMatching(/^Only the first 20000 of \d+ passages/),
    ]);
  });
});

describe("a mailbox", () => {
  it("with a damaged message is read without it, and says so", async () => {
    const messages = ["Subject: One\n\nFirst.", `A: ${"a".repeat(3_000_000)}`, "Subject: Three\n\nThird."];
    const text = messages.map((message) => `From a Mon Nov 2\n${message}\n\n`).join("");
    const { sections, note } = await parse(write("damaged.mbox", text));
    expect(sections.map(({ heading }) => heading)).toEqual(["One", "Three"]);
    expect(note).toBe("1 of 3 messages are damaged and were left out.");
  });
});

describe("a folder", () => {
  it("with links in a circle, a pipe and a device has an end, and names them", async () => {
    const root = join(folder, "odd");
    mkdirSync(join(root, "deep"), { recursive: true });
    writeFileSync(join(root, "deep", "a.md"), "# A\n\ntext");
    symlinkSync(root, join(root, "deep", "up"));
    symlinkSync(join(root, "b.md"), join(root, "b.md"));
    symlinkSync("/dev/zero", join(root, "zero.txt"));
    execFileSync("mkfifo", [join(root, "pipe.txt")]);
    const { documents, skipped } = await findFiles([root]);
    expect(documents.map(({ id }) => id)).toEqual(["deep/a.md"]);
    expect(skipped.map(({ item, reason }) => `${item}: ${reason}`)).toEqual([
      "b.md: Links are not followed.",
      "deep/up: Links are not followed.",
      "pipe.txt: It is neither a file nor a folder.",
      "zero.txt: Links are not followed.",
    ]);
  });

  it("in which a file becomes a pipe after it was found does not block", async () => {
    const path = write("was-a-file.txt", "text");
    rmSync(path);
    execFileSync("mkfifo", [path]);
    await expect(parse(path)).rejects.toMatchObject({
      code: "file_invalid",
      message: '"was-a-file.txt" is not a regular file.',
    });
  });

  it("in which a file grows after it was found is read within the limit", async () => {
    const path = write("grows.txt", "text");
    truncateSync(path, 60_000_000);
    await expect(parse(path)).rejects.toMatchObject({
      code: "file_limit",
      message: '"grows.txt" is larger than 50 MB.',
    });
  });
});

/** Builds a PDF file of these objects, the first of which is the catalog. `SELF` is the place of the table of objects. */
function buildPdf(objects: readonly string[], trailer = ""): Buffer {
  let text = "%PDF-1.7\n";
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  const root = `<< /Size ${objects.length + 1} /Root 1 0 R ${trailer.replace("SELF", String(text.length))} >>`;
  return Buffer.from(`${text}${table}trailer\n${root}\nstartxref\n${text.length}\n%%EOF\n`, "latin1");
}

function buildStream(content: string, filter = ""): string {
  return `<< ${filter} /Length ${content.length} >>\nstream\n${content}\nendstream`;
}

function buildPacked(content: string | Buffer): string {
  return buildStream(deflateSync(content).toString("latin1"), "/Filter /FlateDecode");
}

const buildPart = (number: number): string =>
  `Content-Type: multipart/mixed; boundary=b${number}\n\n--b${number}\n`;
