// Gemini's files (`POST {host}/upload/{version}/files`), uploaded in pieces that can be resumed: the first request
// returns a URL, to which the pieces are sent with their offset. A piece that failed is sent again from where the server
// says the upload stands. A video is processed first; a file can be used once it is `ACTIVE`, for 48 hours.
import { sleep, systemClock } from "../../base/clock.ts";
import { AgentError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { FileReference } from "../../kernel/history.ts";
import type { ModelFiles } from "../../kernel/model.ts";
import { type FilesConnection, joinUrl } from "../http-model.ts";
import { createFiles, type FileContent } from "./create-files.ts";
import { readFileJson, removeIfExists, repeatRequest, sendFileRequest } from "./send-file-request.ts";

const pieceSize = 8 * 1024 * 1024;
const pollMs = 1000;
const maxProcessingMs = 10 * 60_000;

type GeminiContext = { readonly connection: FilesConnection; readonly base: string };

export function createGeminiFiles(connection: FilesConnection, base: string): ModelFiles {
  const context = { connection, base };
  const { clock } = connection;
  return createFiles(
    {
      provider: "gemini",
      async upload(file, signal) {
        const url = await repeatRequest(connection, signal, () => startUpload(context, file, signal));
        const uploaded = await sendPieces(context, { file, url, signal });
        return waitUntilActive(context, uploaded, signal);
      },
      remove: (uri, signal) =>
        removeIfExists(
          repeatRequest(connection, signal, () =>
            sendFileRequest(connection, { method: "DELETE", url: joinUrl(base, getPath(uri)), signal }),
          ),
        ),
    },
    clock,
  );
}

async function startUpload(
  { connection, base }: GeminiContext,
  { bytes, mediaType, name }: FileContent,
  signal: AbortSignal,
): Promise<string> {
  const { origin, pathname } = new URL(base);
  const response = await sendFileRequest(connection, {
    url: joinUrl(`${origin}/upload${pathname}`, "/files"),
    headers: {
      "content-type": "application/json",
      "x-goog-upload-protocol": "resumable",
      "x-goog-upload-command": "start",
      "x-goog-upload-header-content-length": String(bytes.length),
      "x-goog-upload-header-content-type": mediaType,
    },
    body: JSON.stringify({ file: { displayName: name } }),
    signal,
  });
  const url = response.headers.get("x-goog-upload-url");
  await response.body?.cancel();
  if (url && URL.canParse(url)) return url;
  throw new AgentError("bad_chunk", `${connection.id} did not return a URL for the upload.`);
}

type Upload = { readonly file: FileContent; readonly url: string; readonly signal: AbortSignal };

/** The URL itself grants the access, so that no key is sent to it. */
async function sendPieces({ connection }: GeminiContext, upload: Upload): Promise<Record<string, unknown>> {
  const { file, url, signal } = upload;
  const { id } = connection;
  const send = (headers: Record<string, string>, body?: Uint8Array<ArrayBuffer>) =>
    sendFileRequest(connection, { url, headers, isPublic: true, signal, ...(body && { body }) });
  let offset = 0;
  for (;;) {
    let isRepeated = false;
    const response = await repeatRequest(connection, signal, async () => {
      if (isRepeated) offset = await readOffset(await send({ "x-goog-upload-command": "query" }), offset);
      isRepeated = true;
      const piece = file.bytes.subarray(offset, offset + pieceSize);
      const isLast = offset + piece.length >= file.bytes.length;
      const command = isLast ? "upload, finalize" : "upload";
      const headers = { "x-goog-upload-command": command, "x-goog-upload-offset": String(offset) };
      return { isLast, length: piece.length, answer: await send(headers, piece) };
    });
    if (response.isLast) {
      const { file: uploaded } = await readFileJson(response.answer, id);
      if (isRecord(uploaded)) return uploaded;
      throw new AgentError("bad_chunk", `${id} did not describe the uploaded file.`);
    }
    await response.answer.body?.cancel();
    offset += response.length;
  }
}

async function readOffset(response: Response, offset: number): Promise<number> {
  const received = Number(response.headers.get("x-goog-upload-size-received") ?? Number.NaN);
  await response.body?.cancel();
  return Number.isInteger(received) && received >= 0 ? received : offset;
}

async function waitUntilActive(
  { connection, base }: GeminiContext,
  uploaded: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Omit<FileReference, "provider">> {
  const { clock = systemClock, id } = connection;
  const startedAt = clock.monotonic();
  let file = uploaded;
  while (file.state === "PROCESSING") {
    if (clock.monotonic() - startedAt > maxProcessingMs)
      throw new AgentError("model_timeout", `${id} has not processed the uploaded file within 10 minutes.`);
    await sleep(clock, pollMs, signal);
    const url = joinUrl(base, getPath(String(file.name)));
    file = await repeatRequest(connection, signal, async () =>
      readFileJson(await sendFileRequest(connection, { method: "GET", url, signal }), id),
    );
  }
  const { uri, state, expirationTime } = file;
  if (state === "FAILED")
    throw new AgentError("model_rejected", `${id} could not process the uploaded file.`);
  if (typeof uri !== "string" || uri === "")
    throw new AgentError("bad_chunk", `${id} did not return the address of the uploaded file.`);
  const expiresAt = Date.parse(String(expirationTime));
  return { id: uri, ...(Number.isFinite(expiresAt) && { expiresAt }) };
}

/** Returns the path of a file, from its name (`files/abc`) or its URI. */
function getPath(name: string): string {
  return `/files/${encodeURIComponent(name.split("/").at(-1) ?? "")}`;
}
