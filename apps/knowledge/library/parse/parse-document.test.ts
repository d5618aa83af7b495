import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createParserWorker } from "../../../import/parse-in-worker.ts";
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
    expect(text).toContain("Tromsø | 1,750 kroner");
  });

  it("has a book in reading order, with its title", async () => {
    const { title, sections } = await parse(join(fixtures, "travel-policy.epub"));
    expect(title).toBe("Travel policy");
    expect(sections.map(({ text }) => text).join("\n")).toMatch(/Flights.*Hotels.*1,900 kroner.*Receipts/s);
  });

  it("gives a PDF of several pages with its table and lists in reading order", async () => {
    const { title, sections } = await parse(join(fixtures, "handbook.pdf"));
    expect(title).toBe("Survey handbook");
    expect([...new Set(sections.map(({ fragment }) => fragment))]).toEqual(["page=1", "page=2"]);
    expect(sections[0]?.text).toMatch(/Tern New Pier 1 12 Jon Østby.*1\. Count the crew\. 2\. Check/s);
    expect(sections.at(-1)?.text).toContain("The tide gauge in Kråkevik sends a value every ten minutes.");
  });

  it("has the title that an HTML page gives itself", async () => {
    expect((await parse(join(fixtures, "travel-policy.html"))).title).toBe("Travel policy");
  });
});

describe("documents made by pandoc", () => {
  it.each([
    "docx",
    "epub",
  ])("gives a .%s by heading, with each row of a table in one line", async (extension) => {
    const { sections } = await parse(join(fixtures, `handbook.${extension}`));
    expect(sections.map(({ heading }) => heading)).toEqual([
      "Survey handbook",
      "Boats",
      "Safety on board",
      "Fuel",
      "Echo sounder",
      "Tide gauge",
      "Reports",
    ]);
    const { text = "" } = sections[1] ?? {};
    expect(text).toMatch(
      /\n\nBoat \| Berth \| Seats \| Captain\n\nGull \| Old Pier 4 \| 6 \| Ida Solberg\n\n/,
    );
  });
});

describe("a page", () => {
  it("whose layout is a table is split at its paragraphs", async () => {
    const paragraph = `<p>${"words ".repeat(80)}</p>`;
    const page = `<table><tr><td><h2>One</h2>${paragraph.repeat(4)}</td><td><h2>Two</h2><p>Short</p></td></tr></table>`;
    const sections = await parseText("layout.html", page);
    expect(sections.map(([heading]) => heading)).toEqual(["One", "One", "Two"]);
    expect(sections[0]?.[1]).toMatch(/words words\n\nwords/);
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
    expect(sections[1]?.[1]).toContain("Thanks.\nFrom here on it is settled.");
  });

  it("of Python's mailbox module is decoded, and opened at the message", async () => {
    const { sections } = await parse(join(fixtures, "mailbox.mbox"));
    expect(sections.map(({ heading, fragment }) => [heading, fragment])).toEqual([
      ["Påske: who sails the Tern?", ":~:text=Message%2DID%3A%20%3C0%40example.com%3E"],
      ["Re: Påske: who sails the Tern?", ":~:text=Message%2DID%3A%20%3C1%40example.com%3E"],
      ["Opening hours", ":~:text=Message%2DID%3A%20%3C2%40example.com%3E"],
    ]);
    expect(sections[0]?.text).toContain("\n\nFrom Thursday on the Tern is free.");
    expect(sections[1]?.text).toContain("Attachments, not read: order.pdf\n\nYes. I need 90 litres");
  });

  it("is read from a single message", async () => {
    expect(await parseText("one.eml", mail.join("\r\n"))).toMatchObject([["Hotel in Oslo", /booked/]]);
  });
});
