import PostalMime, { type Address } from "postal-mime";
import { buildSections, type Chapter } from "./build-sections.ts";
import { parseHtml } from "./html.ts";
import type { ParsedDocument } from "./parsed-document.ts";
import { splitParagraphs } from "./text.ts";

const maxMessages = 20_000;

/** Reads a message (`.eml`), or a mailbox of several (`.mbox`). One chapter per message. Damaged messages are left out. */
export async function parse(bytes: Uint8Array): Promise<ParsedDocument> {
  const messages = splitMailbox(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  const count = messages.length;
  const chapters: Chapter[] = [];
  const errors: unknown[] = [];
  for (const message of messages.slice(0, maxMessages)) {
    try {
      chapters.push(await parseMessage(message));
    } catch (error) {
      errors.push(error);
    }
  }
  if (chapters.length === 0) throw errors[0];
  const notes = [
    ...(count > maxMessages ? [`Only the first ${maxMessages} of ${count} messages were read.`] : []),
    ...(errors.length > 0 ? [`${errors.length} of ${count} messages are damaged and were left out.`] : []),
  ];
  return {
    sections: buildSections(chapters, { isLinkedByText: true }),
    ...(notes.length > 0 && { note: notes.join(" ") }),
  };
}

/** In a mailbox, every message starts with a line `From sender date`, after an empty line. */
function splitMailbox(bytes: Buffer): readonly Buffer[] {
  if (bytes.toString("latin1", 0, 5) !== "From ") return [bytes];
  const lineEnd = bytes[bytes.indexOf("\n") - 1] === 0x0d ? "\r\n" : "\n";
  const messages: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const gap = bytes.indexOf(`${lineEnd}${lineEnd}From `, start);
    const end = gap === -1 ? bytes.length : gap + 2 * lineEnd.length;
    const message = bytes.subarray(start, end);
    messages.push(unescapeLines(message.subarray(message.indexOf("\n") + 1)));
    start = end;
  }
  return messages;
}

/** A line of a message that starts with "From " gets a `>` before it in a mailbox. */
function unescapeLines(message: Buffer): Buffer {
  if (!message.includes("\n>From ") && !message.includes("\n>>")) return message;
  return Buffer.from(message.toString("latin1").replace(/^>(>*From )/gm, "$1"), "latin1");
}

async function parseMessage(bytes: Buffer): Promise<Chapter> {
  const mail = await PostalMime.parse(bytes);
  const names = mail.attachments.flatMap(({ filename }) => (filename ? [filename] : []));
  const head = [
    `From: ${formatAddress(mail.from)}`,
    `To: ${(mail.to ?? []).map(formatAddress).join(", ")}`,
    `Date: ${mail.date ?? "unknown"}`,
    ...(names.length > 0 ? [`Attachments, not read: ${names.join(", ")}`] : []),
  ].join("\n");
  const body = mail.text
    ? splitParagraphs(mail.text)
    : parseHtml(mail.html ?? "").chapters.flatMap(({ heading, blocks }) =>
        heading === "" ? blocks : [heading, ...blocks],
      );
  const fileText = findFileText(bytes);
  return {
    heading: mail.subject?.trim() || "No subject",
    blocks: [head, ...body],
    ...(fileText !== undefined && { fileText }),
  };
}

const maxHeadLength = 20_000;

/** The line of the head that no other message has. Names and subjects are often encoded in the file. */
function findFileText(bytes: Buffer): string | undefined {
  const [head = ""] = bytes.toString("latin1", 0, maxHeadLength).split(/\r?\n\r?\n/, 1);
  return (/^Message-ID: *\S+/im.exec(head) ?? /^Date: *\S.*$/im.exec(head))?.[0];
}

function formatAddress(address: Address | undefined): string {
  if (!address) return "unknown";
  return address.address && address.name
    ? `${address.name} <${address.address}>`
    : address.address || address.name;
}
