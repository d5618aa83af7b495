import type { Json, UiHint } from "capstan";

type Fields = Readonly<Record<string, Json>>;

/** Builds a preview from arguments that are an email: recipients, and a subject or a text. */
export function buildInputEmail(input: Json): UiHint | undefined {
  const fields = Object(input) as Fields;
  const to = readAddresses(fields.to ?? fields.recipient ?? fields.recipients);
  const subject = fields.subject;
  const body = [fields.body, fields.text, fields.message, fields.content, fields.html].find(
    (text) => typeof text === "string",
  );
  if (to.length === 0 || typeof subject !== "string" || typeof body !== "string") return undefined;
  const attachments = readAddresses(fields.attachments);
  return {
    kind: "email",
    props: {
      ...{ to, subject, body },
      ...(typeof fields.from === "string" && { from: fields.from }),
      ...(fields.cc !== undefined && { cc: readAddresses(fields.cc) }),
      ...(fields.bcc !== undefined && { bcc: readAddresses(fields.bcc) }),
      ...(attachments.length > 0 && { attachments }),
    },
  };
}

function readAddresses(value: Json | undefined): readonly string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.filter((item): item is string => typeof item === "string" && item.trim() !== "");
}
