import { readFile } from "node:fs/promises";
import PostalMime, { type Address } from "postal-mime";
import { buildSections, type Chapter } from "./build-sections.ts";
import { parseHtml } from "./html.ts";
import type { ParsedDocument } from "./parsed-document.ts";
import { splitParagraphs } from "./text.ts";

const maxMessages = 20_000;

/** Reads a message (`.eml`), or a mailbox of several (`.mbox`). One chapter per message. */
export async function parse(path: string): Promise<ParsedDocument> {
  const messages = splitMailbox(await readFile(path));
  const chapters: Chapter[] = [];
  for (const message of messages.slice(0, maxMessages)) chapters.push(await parseMessage(message));
  return {
    sections: buildSections(chapters, { isLinkedByText: true }),
    ...(messages.length > maxMessages && {
      note: `Only the first ${maxMessages} of ${messages.length} messages were read.`,
    }),
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
    messages.push(message.subarray(message.indexOf("\n") + 1));
    start = end;
  }
  return messages;
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
  return { heading: mail.subject?.trim() || "No subject", blocks: [head, ...body] };
}

function formatAddress(address: Address | undefined): string {
  if (!address) return "unknown";
  return address.address && address.name
    ? `${address.name} <${address.address}>`
    : address.address || address.name;
}
