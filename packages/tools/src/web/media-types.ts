/** What a `Content-Type` header says. */
export type MediaType = { readonly essence: string; readonly charset?: string };

/** Without a header nothing is known, and what is unknown is binary. */
export function parseMediaType(header: string | undefined): MediaType {
  const [essence = "", ...parameters] = (header ?? "").split(";").map((part) => part.trim());
  const charset = parameters
    .map((parameter) => /^charset\s*=\s*"?([^"\s]+)"?$/i.exec(parameter)?.[1])
    .find((value) => value !== undefined);
  return {
    essence: essence.toLowerCase() || "application/octet-stream",
    ...(charset !== undefined && { charset: charset.toLowerCase() }),
  };
}

const readable =
  /^(?:text\/[\w.+-]+|application\/(?:json|x-ndjson|jsonl|xml|yaml|x-yaml|toml|javascript|pdf|[\w.-]+\+(?:json|xml|yaml)))$/;

/** Texts, JSON, XML and PDF. An image is none of them, also one that is written as text. */
export function isReadable(essence: string): boolean {
  return readable.test(essence);
}

/** Whether there are elements to extract from. */
export function isHtml(essence: string): boolean {
  return essence === "text/html" || essence === "application/xhtml+xml";
}
