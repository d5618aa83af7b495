import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { isApiPath } from "./guard.ts";

/** Returns the response for a file or page, undefined if not found. */
export type StaticFiles = (request: Request) => Response | undefined;

type StaticFile = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
};

const mediaTypes: Readonly<Record<string, string>> = {
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
  ...[
    "img-src 'self' data: blob:",
    "media-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
  ],
  ...["base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"],
].join("; ");

/**
 * Loads the files of a folder into memory and serves them by exact path, so no path can reach anything else. Skips
 * symbolic links and dotfiles. `index.html` is served for every page path.
 */
export function loadStaticFiles(folder: string): StaticFiles {
  const files = new Map(readFolder(folder));
  return (request) => {
    const { pathname, search } = new URL(request.url);
    const file = files.get(isPage(pathname) ? "/index.html" : pathname);
    // A bundler in front might interpret a query; no file needs one.
    if (!file || (search !== "" && !isPage(pathname))) return undefined;
    const { bytes, headers } = file;
    if (request.headers.get("if-none-match") === headers.etag)
      return new Response(null, { status: 304, headers });
    return new Response(bytes, { headers });
  };
}

function isPage(path: string): boolean {
  return /^\/(?:[\w~-]+(?:\/[\w~-]+)*\/?)?$/.test(path) && !isApiPath(path);
}

function readFolder(folder: string, path = ""): [string, StaticFile][] {
  return readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry): [string, StaticFile][] => {
    const at = `${path}/${entry.name}`;
    if (entry.name.startsWith(".")) return [];
    if (entry.isDirectory()) return readFolder(folder, at);
    return entry.isFile() ? [[at, createStaticFile(readFileSync(join(folder, at)), at)]] : [];
  });
}

/** Bundlers put a content hash into the names of assets. */
const hashedAsset = /^\/assets\/.*-[\w-]{8}\.\w+$/;

function createStaticFile(read: Buffer, path: string): StaticFile {
  const bytes = new Uint8Array(read);
  return {
    bytes,
    headers: {
      "content-type": mediaTypes[extname(path)] ?? "application/octet-stream",
      "content-security-policy": pagePolicy,
      "cache-control": hashedAsset.test(path) ? "public, max-age=31536000, immutable" : "no-cache",
      etag: `"${createHash("sha256").update(bytes).digest("base64url")}"`,
    },
  };
}
