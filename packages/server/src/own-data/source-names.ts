import { basename, extname } from "node:path";

const maxSlugLength = 40;

/** Returns the `attempt`-th name for the agent: `knowledge-notes`, then `knowledge-notes-2`. */
export function buildSourceName(app: string, title: string, attempt: number): string {
  const plain = title.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  const words = plain.replaceAll(/[^a-z0-9]+/g, "-").slice(0, maxSlugLength);
  const slug = words.replaceAll(/^-+|-+$/g, "") || "data";
  return attempt === 1 ? `${app}-${slug}` : `${app}-${slug}-${attempt}`;
}

/** Returns what a user calls the data: the name of its first file or folder, or the host of its URL. */
export function getDefaultTitle([first]: readonly string[]): string | undefined {
  if (first === undefined) return undefined;
  if (isUrl(first)) return URL.parse(first)?.hostname || first;
  const name = basename(first);
  return name.slice(0, name.length - extname(name).length) || name || first;
}

/** Whether a location is a URL and not a path. `C:\notes` is a path. */
export function isUrl(location: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(location);
}
