import { AgentError } from "capstan";

export type OpenDownloadOptions = {
  readonly url: string;
  /** Continue there, if the file still has this version. */
  readonly from?: { readonly offset: number; readonly version: string } | undefined;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
};

export type OpenDownload = {
  /** Where the body starts. */
  readonly offset: number;
  readonly total?: number | undefined;
  readonly etag?: string | undefined;
  /** The checksum, if the server knows it. */
  readonly sha256?: string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
};

const maxRedirects = 10;

/** Requests a file, or the rest of it. Follows redirects itself, because the first server may know the checksum. */
export async function openDownload(options: OpenDownloadOptions): Promise<OpenDownload> {
  let { url } = options;
  let sha256: string | undefined;
  for (let count = 0; count <= maxRedirects; count++) {
    const response = await requestFile(url, options);
    sha256 ??= findSha256(response.headers);
    const location = response.headers.get("location");
    if (response.status >= 300 && response.status < 400 && location !== null) {
      await response.body?.cancel();
      url = resolveRedirect(url, location);
      continue;
    }
    return { ...(await checkResponse(response, options)), sha256 };
  }
  throw new AgentError("model_unreachable", `Too many redirects from ${options.url}.`, { retryable: false });
}

function resolveRedirect(from: string, location: string): string {
  const url = new URL(location, from);
  const isSafe =
    url.protocol === "https:" || (url.protocol === "http:" && new URL(from).protocol === "http:");
  if (isSafe) return url.href;
  throw new AgentError("security", `${from} redirects to ${url.protocol}, which is not safe.`);
}

async function requestFile(
  url: string,
  { from, fetch: send, signal }: OpenDownloadOptions,
): Promise<Response> {
  const headers: Record<string, string> = { "accept-encoding": "identity" };
  if (from) {
    headers.range = `bytes=${from.offset}-`;
    headers["if-range"] = from.version;
  }
  try {
    return await send(url, { headers, signal, redirect: "manual" });
  } catch (cause) {
    signal.throwIfAborted();
    throw new AgentError("model_unreachable", `Could not connect to ${new URL(url).host}.`, { cause });
  }
}

async function checkResponse(
  response: Response,
  { url, from }: OpenDownloadOptions,
): Promise<Omit<OpenDownload, "sha256">> {
  const { status, headers, body } = response;
  const etag = headers.get("etag") ?? undefined;
  if (status === 200 && body) {
    const length = headers.get("content-length");
    return { offset: 0, total: length === null ? undefined : Number(length), etag: toStrong(etag), body };
  }
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get("content-range") ?? "");
  if (status === 206 && body && range && Number(range[1]) === from?.offset)
    return { offset: from.offset, total: Number(range[2]), etag: toStrong(etag), body };
  const total = /^bytes \*\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1];
  // Everything is there already.
  if (status === 416 && from && Number(total) === from.offset)
    return { offset: from.offset, total: from.offset, etag: from.version, body: new Blob([]).stream() };
  await body?.cancel();
  throw createStatusError(url, status);
}

/** A weak version does not promise the same bytes. */
const toStrong = (etag: string | undefined): string | undefined =>
  etag?.startsWith("W/") ? undefined : etag;

/** Hugging Face sends the checksum of a large file with the redirect to it. */
function findSha256(headers: Headers): string | undefined {
  return /^"?([0-9a-f]{64})"?$/i.exec(headers.get("x-linked-etag") ?? "")?.[1];
}

function createStatusError(url: string, status: number): AgentError {
  if (status === 404)
    return new AgentError("model_not_found", `${url} does not exist (404). Check the address.`);
  if (status === 401 || status === 403)
    return new AgentError(
      "model_auth",
      `${url} is not public (${status}). Download it yourself, or use another model.`,
    );
  const retryable = status >= 500 || status === 429 || status === 416 || status === 206;
  return new AgentError("model_unreachable", `${url} answered with the status ${status}.`, { retryable });
}
