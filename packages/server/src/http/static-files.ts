import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { isEndpoint } from "./guard.ts";

/** The answer to a request for a file or a page, if there is one. */
export type StaticFiles = (request: Request) => Response | undefined;

type File = { readonly bytes: Uint8Array<ArrayBuffer>; readonly headers: Readonly<Record<string, string>> };

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

const pagePolicy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "font-src 'self'"],
  ...["img-src 'self' data: blob:", "connect-src 'self'", "manifest-src 'self'", "worker-src 'self'"],
  ...["base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"],
].join("; ");

/**
 * Serves the files that are in a folder now, each by its exact path and from memory: whatever a path is made of, there is
 * nothing else to reach. Links and names that begin with a dot are left out. `index.html` answers for every page.
 */
export function staticFiles(folder: string): StaticFiles {
  const files = new Map(filesOf(folder));
  return (request) => {
    const { pathname, search } = new URL(request.url);
    const file = files.get(isPage(pathname) ? "/index.html" : pathname);
    // A bundler in between might take a query as an order; no file here needs one.
    if (!file || (search !== "" && !isPage(pathname))) return undefined;
    const { bytes, headers } = file;
    if (request.headers.get("if-none-match") === headers.etag)
      return new Response(null, { status: 304, headers });
    return new Response(bytes, { headers });
  };
}

function isPage(path: string): boolean {
  return /^\/(?:[\w~-]+(?:\/[\w~-]+)*\/?)?$/.test(path) && !isEndpoint(path);
}

function filesOf(folder: string, path = ""): [string, File][] {
  return readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry): [string, File][] => {
    const at = `${path}/${entry.name}`;
    if (entry.name.startsWith(".")) return [];
    if (entry.isDirectory()) return filesOf(folder, at);
    return entry.isFile() ? [[at, fileOf(readFileSync(join(folder, at)), at)]] : [];
  });
}

/** What a bundler puts into `assets` has a hash of its content in its name. */
const hashedAsset = /^\/assets\/.*-[\w-]{8}\.\w+$/;

function fileOf(read: Buffer, path: string): File {
  const bytes = new Uint8Array(read);
  return {
    bytes,
    headers: {
      "content-type": types[extname(path)] ?? "application/octet-stream",
      "content-security-policy": pagePolicy,
      "cache-control": hashedAsset.test(path) ? "public, max-age=31536000, immutable" : "no-cache",
      etag: `"${createHash("sha256").update(bytes).digest("base64url")}"`,
    },
  };
}
