import { type Clock, rejectOnAbort, systemClock } from "../../base/clock.ts";
import { AgentError } from "../../base/errors.ts";
import { fromBase64 } from "../../base/json.ts";
import type { FileReference, MediaPart } from "../../kernel/history.ts";
import type { ModelFiles, NewFile } from "../../kernel/model.ts";
import { getExtension } from "../wire-media.ts";

/** A file as it is uploaded. */
export type FileContent = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mediaType: string;
  readonly name: string;
};

/** The files API of one provider. */
export type FileApi = {
  readonly provider: string;
  upload(file: FileContent, signal: AbortSignal): Promise<Omit<FileReference, "provider">>;
  /** Deletes a file, if it exists. */
  remove(id: string, signal: AbortSignal): Promise<void>;
};

/** Files that expire earlier are uploaded again: a turn may take a while. */
const expiryMarginMs = 10 * 60_000;
const maxKnownFiles = 10_000;

/** Creates the files of a client, which uploads the same bytes once. */
export function createFiles(api: FileApi, clock: Clock = systemClock): ModelFiles {
  const uploads = new Map<string, Promise<MediaPart>>();
  const findUpload = async (key: string, signal: AbortSignal): Promise<MediaPart | undefined> => {
    for (let known = uploads.get(key); known; known = uploads.get(key)) {
      // The failure of another caller's upload is not this one's.
      const part = await rejectOnAbort(
        known.catch(() => undefined),
        signal,
      );
      if (part && !expiresSoon(part, clock.now())) return part;
      if (uploads.get(key) === known) uploads.delete(key);
    }
    return undefined;
  };
  return {
    async upload(newFile, { signal = new AbortController().signal } = {}) {
      const file = toContent(newFile);
      const key = `${file.mediaType} ${await computeHash(file.bytes)}`;
      const known = await findUpload(key, signal);
      if (known) return known;
      const upload = api.upload(file, signal).then((reference) => toPart(file, api.provider, reference));
      remember(uploads, key, upload);
      return upload;
    },
    async remove({ file }, { signal = new AbortController().signal } = {}) {
      if (file?.provider !== api.provider)
        throw new AgentError("invalid_input", `The part has no file at ${api.provider}.`);
      await api.remove(file.id, signal);
      for (const [key, upload] of uploads)
        if ((await upload.catch(() => undefined))?.file?.id === file.id) uploads.delete(key);
    },
  };
}

function remember(uploads: Map<string, Promise<MediaPart>>, key: string, upload: Promise<MediaPart>): void {
  uploads.set(key, upload);
  upload.catch(() => {
    if (uploads.get(key) === upload) uploads.delete(key);
  });
  const [oldest = key] = uploads.keys();
  if (uploads.size > maxKnownFiles) uploads.delete(oldest);
}

function toContent({ data, mediaType, name }: NewFile): FileContent {
  const bytes = typeof data === "string" ? toBytes(data) : new Uint8Array(data);
  if (bytes.length === 0) throw new AgentError("invalid_input", "The file to upload is empty.");
  return { bytes, mediaType, name: name ?? `file.${getExtension(mediaType)}` };
}

function toBytes(data: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(fromBase64(data));
  } catch (cause) {
    throw new AgentError("invalid_input", "The `data` of the file to upload is not base64.", { cause });
  }
}

function toPart(
  { mediaType }: FileContent,
  provider: string,
  reference: Omit<FileReference, "provider">,
): MediaPart {
  const type = mediaType.startsWith("image/") ? "image" : "file";
  return { type, mediaType, file: { provider, ...reference } };
}

function expiresSoon({ file }: MediaPart, now: number): boolean {
  return file?.expiresAt !== undefined && file.expiresAt - expiryMarginMs <= now;
}

async function computeHash(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
