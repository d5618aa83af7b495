import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
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

const fixtures = join(import.meta.dirname, "..", "..", "fixtures");
const folder = mkdtempSync(join(tmpdir(), "parse-document-"));
const worker = createParserWorker(documentLimits);
afterAll(async () => {
  await worker.close();
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

const hotels =
  "In Oslo a hotel may cost up to 1,900 kroner a night, breakfast included. In Bergen the limit is 1,600 kroner.";

describe("documents made by LibreOffice", () => {
  it("gives a PDF by page, with a link to the page", async () => {
    const { sections } = await parse(join(fixtures, "travel-policy.pdf"));
    expect(sections.map(({ heading, fragment }) => [heading, fragment])).toEqual([
      ["Page 1", "page=1"],
      ["Page 2", "page=2"],
      ["Page 3", "page=3"],
    ]);
    expect(sections[1]?.text).toContain(hotels);
  });

  it.each(["docx", "html"])("gives a .%s by heading, with the rows of its tables", async (extension) => {
    const { sections } = await parse(join(fixtures, `travel-policy.${extension}`));
    expect(sections.map(({ heading }) => heading)).toEqual([
      "Travel policy",
      "Flights",
      "Hotels",
      "Receipts",
    ]);
    const { text = "" } = sections.find(({ heading }) => heading === "Hotels") ?? {};
    expect(text).toContain(hotels);
    expect(text).toMatch(/Tromsø(?: \| |\s+)1,750 kroner/);
  });

  it("has a book in reading order, with its title", async () => {
    const { title, sections } = await parse(join(fixtures, "travel-policy.epub"));
    expect(title).toBe("Travel policy");
    expect(sections.map(({ text }) => text).join("\n")).toMatch(/Flights.*Hotels.*1,900 kroner.*Receipts/s);
  });

  it("has the title that an HTML page gives itself", async () => {
    expect((await parse(join(fixtures, "travel-policy.html"))).title).toBe("Travel policy");
  });
});

describe("texts", () => {
  it("are split at empty lines, and opened at their first words", async () => {
    const paragraph = "words ".repeat(200).trim();
    const { sections } = await parse(
      write("long.txt", `First-rate text.\n\n${paragraph}\r\n\r\n${paragraph}`),
    );
    expect(sections.map(({ anchor, fragment }) => [anchor, fragment])).toEqual([
      ["top", ":~:text=First%2Drate%20text."],
      ["top~2", `:~:text=${encodeURIComponent("words ".repeat(10).trim())}`],
    ]);
  });

  it.each([
    ["UTF-8 with a mark", Buffer.from("\uFEFFsmørbrød")],
    ["UTF-16", Buffer.from("\uFEFFsmørbrød", "utf16le")],
    ["Windows-1252", Buffer.from("smørbrød", "latin1")],
  ])("may be encoded as %s", async (_, bytes) => {
    expect(await parseText("food.txt", bytes)).toEqual([["", "smørbrød"]]);
  });

  it("are read with broken characters", async () => {
    const bytes = Buffer.concat([Buffer.from("smør ".repeat(14_000)), Buffer.from([0xff, 0xc3])]);
    const [, last = ""] = (await parseText("broken.txt", bytes)).at(-1) ?? [];
    expect(last).toMatch(/smør \uFFFD\uFFFD$/);
  });

  it("of programs are split between definitions, and named by their lines", async () => {
    const body = Array.from({ length: 30 }, (_, index) => `  call${index}("${"x".repeat(20)}");`).join("\n");
    const code = `function first() {\n${body}\n}\n\nfunction second() {\n  return 1;\n}\n`;
    expect(
      (await parseText("main.ts", code)).map(([heading, text]) => [heading, text?.split("\n", 1)[0]]),
    ).toEqual([
      ["Lines 1–33", "function first() {"],
      ["Lines 34–37", "function second() {"],
    ]);
  });

  it("of tables have one passage per row, with the names of the columns", async () => {
    expect(await parseText("limits.csv", "City;Hotel limit\nOslo;1,900\nBergen;\n")).toEqual([
      ["Row 1", "City: Oslo\nHotel limit: 1,900"],
      ["Row 2", "City: Bergen"],
    ]);
  });

  it("of long tables are read up to a limit, and say so", async () => {
    const { sections, note } = await parse(write("long.csv", `a\n${"1\n".repeat(10_001)}`));
    expect([sections.length, note]).toEqual([10_000, "Only the first 10000 rows were read."]);
  });
});

describe("mail", () => {
  const mail = [
    "From: =?utf-8?q?J=C3=B8rgen?= <jorgen@example.com>",
    "To: Ada <ada@example.com>",
    "Date: Mon, 02 Nov 2026 09:00:00 +0000",
    "Subject: Hotel in Oslo",
    "Content-Type: multipart/mixed; boundary=b",
    "",
    "--b",
    "Content-Type: text/html",
    "",
    "<p>The hotel is <b>booked</b>.</p><script>steal()</script>",
    "--b",
    'Content-Disposition: attachment; filename="ticket.pdf"',
    "",
    "bytes",
    "--b--",
  ];

  it.each(["\n", "\r\n"])("is read by message from a mailbox with line ends %j", async (lineEnd) => {
    const second = ["Subject: Re: Hotel in Oslo", "", "Thanks.", ">From here on it is settled.", ""];
    const lines = ["From jorgen Mon Nov 2", ...mail, "", "From ada Mon Nov 2", ...second];
    const sections = await parseText("box.mbox", lines.join(lineEnd));
    expect(sections.map(([heading]) => heading)).toEqual(["Hotel in Oslo", "Re: Hotel in Oslo"]);
    expect(sections[0]?.[1]).toBe(
      "From: Jørgen <jorgen@example.com>\nTo: Ada <ada@example.com>\nDate: 2026-11-02T09:00:00.000Z\n" +
        "Attachments, not read: ticket.pdf\n\nThe hotel is booked.",
    );
    expect(sections[1]?.[1]).toContain("Thanks.");
  });

  it("is read from a single message", async () => {
    expect(await parseText("one.eml", mail.join("\r\n"))).toMatchObject([["Hotel in Oslo", /booked/]]);
  });
});

describe("hostile and damaged files", () => {
  const canary = write("canary.txt", "canary-secret");
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

  it.each(["docx", "epub"])("refuses a zip bomb as .%s", async (extension) => {
    const bomb: ZipFixtureEntry = { path: "word/huge.xml", content: Buffer.alloc(20_000_000) };
    const path = write(`bomb.${extension}`, buildZip([...document("Word"), bomb]));
    await expect(parse(path)).rejects.toMatchObject({
      code: "file_limit",
      message: expect.stringContaining("unpacks to more than 200 times its size"),
    });
  });

  it("ends a PDF whose page tree has no end, and one whose content runs forever", async () => {
    const hasty = createParserWorker({ timeoutMs: 1500, memoryMb: 128 });
    onTestFinished(() => hasty.close());
    const pages = "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 1000000000 >>";
    const path = write("endless.pdf", buildPdf(["<< /Type /Catalog /Pages 2 0 R >>", pages]));
    await expect(parseDocument(path, hasty)).rejects.toMatchObject({ code: /^file_(?:limit|invalid)$/ });
    const content = deflateSync(`BT ${"(a) Tj ".repeat(6_000_000)} ET`);
    const looping = write(
      "looping.pdf",
      buildPdf([
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>",
        `<< /Filter /FlateDecode /Length ${content.length} >>\nstream\n${content.toString("latin1")}\nendstream`,
      ]),
    );
    await expect(parseDocument(looping, hasty)).rejects.toMatchObject({ code: "file_limit" });
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

/** Builds a PDF file of these objects, the first of which is the catalog. */
function buildPdf(objects: readonly string[]): Buffer {
  let text = "%PDF-1.7\n";
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  const end = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text + table + end, "latin1");
}
