// Files of OpenAI (`POST {base}/files`) and Anthropic (`POST {base}/v1/files`): a form with the file, answered with its
// id. OpenAI wants to know the purpose: images for vision, everything else as data of the user.
import { AgentError } from "../../base/errors.ts";
import type { FileReference } from "../../kernel/history.ts";
import type { ModelFiles } from "../../kernel/model.ts";
import { type FilesConnection, joinUrl } from "../http-model.ts";
import { createFiles, type FileContent } from "./create-files.ts";
import { readFileJson, removeIfExists, repeatRequest, sendFileRequest } from "./send-file-request.ts";

type FormFilesOptions = {
  readonly provider: "openai" | "anthropic";
  /** The URL of the collection. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export function createFormFiles(connection: FilesConnection, options: FormFilesOptions): ModelFiles {
  const { provider, url, headers = {} } = options;
  const { clock, id: model } = connection;
  return createFiles(
    {
      provider,
      upload: (file, signal) =>
        repeatRequest(connection, signal, async () => {
          const body = buildForm(file, provider);
          const response = await sendFileRequest(connection, { url, headers, body, signal });
          return readReference(await readFileJson(response, model), model);
        }),
      remove: (id, signal) =>
        removeIfExists(
          repeatRequest(connection, signal, () =>
            sendFileRequest(connection, {
              ...{ method: "DELETE", url: joinUrl(url, `/${encodeURIComponent(id)}`) },
              ...{ headers, signal },
            }),
          ),
        ),
    },
    clock,
  );
}

function buildForm({ bytes, mediaType, name }: FileContent, provider: string): FormData {
  const form = new FormData();
  if (provider === "openai") form.set("purpose", mediaType.startsWith("image/") ? "vision" : "user_data");
  form.set("file", new Blob([bytes], { type: mediaType }), name);
  return form;
}

/** OpenAI has the time in seconds, Anthropic as text. */
function readReference(
  { id, expires_at: expiry }: Record<string, unknown>,
  model: string,
): Omit<FileReference, "provider"> {
  if (typeof id !== "string" || id === "")
    throw new AgentError("bad_chunk", `${model} did not return the id of the uploaded file.`);
  const expiresAt = typeof expiry === "number" ? expiry * 1000 : Date.parse(String(expiry));
  return { id, ...(Number.isFinite(expiresAt) && { expiresAt }) };
}
