/** A parsed `Content-Type` header. */
export type MediaType = { readonly essence: string; readonly charset?: string };

/** A missing header means binary data. */
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

/** Text, JSON, XML and PDF. SVG and other images do not count. */
export function isReadable(essence: string): boolean {
  return readable.test(essence);
}

export function isHtml(essence: string): boolean {
  return essence === "text/html" || essence === "application/xhtml+xml";
}
