import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { createPageMatcher } from "./page-matcher.ts";

/** Returns the response for a file or page, undefined if not found. */
export type StaticFiles = (request: Request) => Response | undefined;

type Variant = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
};

/** A file as it is, and as it was compressed when it was built. */
type StaticFile = { readonly plain: Variant; readonly compressed: readonly CompressedVariant[] };
type CompressedVariant = Variant & { readonly encoding: string };

/** Encodings of compressed files and the extensions they add to a name, the smallest first. */
const encodings = [
  { encoding: "br", extension: ".br" },
  { encoding: "gzip", extension: ".gz" },
] as const;

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
    // Also stops the page of an MCP App from leaving for another site in its frame.
    "frame-src 'self'",
  ],
  ...["base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"],
].join("; ");

/**
 * Loads the files of a folder into memory and serves them by exact path, so no path can reach anything else. Skips
 * symbolic links and dotfiles. `index.html` is served for the pages in `pages.json`, see `createPageMatcher`. Where
 * `x.js.br` or `x.js.gz` lies beside `x.js`, a client that accepts the encoding gets that instead.
 */
export function loadStaticFiles(folder: string): StaticFiles {
  const contents = new Map(readFolder(folder));
  const files = createStaticFiles(contents);
  const isPage = createPageMatcher(contents.get("/pages.json")?.toString());
  return (request) => {
    const { pathname, search } = new URL(request.url);
    const file = files.get(isPage(pathname) ? "/index.html" : pathname);
    // A bundler in front might interpret a query; no file needs one.
    if (!file || (search !== "" && !isPage(pathname))) return undefined;
    const { bytes, headers } = chooseVariant(file, request.headers.get("accept-encoding"));
    if (matchesEtag(request.headers.get("if-none-match"), headers.etag))
      return new Response(null, { status: 304, headers });
    return new Response(bytes, { headers });
  };
}

function chooseVariant({ plain, compressed }: StaticFile, accepted: string | null): Variant {
  return compressed.find(({ encoding }) => acceptsEncoding(accepted ?? "", encoding)) ?? plain;
}

/** Whether `Accept-Encoding` names the encoding, or `*`, without a weight of 0. */
function acceptsEncoding(accepted: string, encoding: string): boolean {
  const weights = accepted.split(",").map((item) => {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    return { name, weight: Number(weight ?? 1) };
  });
  const match = weights.find(({ name }) => name === encoding) ?? weights.find(({ name }) => name === "*");
  return match !== undefined && match.weight > 0;
}

/** A proxy that compresses responses itself may have made the tag weak. */
function matchesEtag(tags: string | null, etag: string | undefined): boolean {
  return (tags ?? "").split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

function readFolder(folder: string, path = ""): [string, Buffer][] {
  return readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry): [string, Buffer][] => {
    const at = `${path}/${entry.name}`;
    if (entry.name.startsWith(".")) return [];
    if (entry.isDirectory()) return readFolder(folder, at);
    return entry.isFile() ? [[at, readFileSync(join(folder, at))]] : [];
  });
}

function createStaticFiles(contents: ReadonlyMap<string, Buffer>): ReadonlyMap<string, StaticFile> {
  const isVariant = (path: string) =>
    encodings.some(
      ({ extension }) => path.endsWith(extension) && contents.has(path.slice(0, -extension.length)),
    );
  return new Map(
    [...contents]
      .filter(([path]) => !isVariant(path))
      .map(([path, content]) => {
        const compressed = encodings.flatMap(({ encoding, extension }): CompressedVariant[] => {
          const bytes = contents.get(path + extension);
          return bytes
            ? [{ encoding, ...createVariant(path, bytes, { "content-encoding": encoding, ...vary }) }]
            : [];
        });
        return [path, { plain: createVariant(path, content, compressed.length > 0 ? vary : {}), compressed }];
      }),
  );
}

const vary = { vary: "accept-encoding" };

/** Bundlers put a content hash into the names of assets. */
const hashedAsset = /^\/assets\/.*-[\w-]{8}\.\w+$/;

function createVariant(path: string, content: Buffer, headers: Variant["headers"]): Variant {
  const bytes = new Uint8Array(content);
  return {
    bytes,
    headers: {
      "content-type": mediaTypes[extname(path)] ?? "application/octet-stream",
      "content-security-policy": pagePolicy,
      "cache-control": hashedAsset.test(path) ? "public, max-age=31536000, immutable" : "no-cache",
      etag: `"${createHash("sha256").update(bytes).digest("base64url")}"`,
      ...headers,
    },
  };
}
