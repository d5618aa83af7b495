import { stat } from "node:fs/promises";
import { join } from "node:path";
import { AgentError, suggestName } from "capstan";
import { modelFolder } from "capstan/model-files";
import { ensureDataFolder } from "../../config/ensure-data-folder.ts";
import type { Io } from "../../io.ts";
import { type Column, formatTable } from "../../output/format-table.ts";
import { downloadFile, type Progress } from "./download-file.ts";
import { type DownloadableModel, downloadableModels } from "./downloadable-models.ts";

export type GetModelFlags = {
  readonly url?: string;
  readonly sha256?: string;
  readonly force?: boolean;
};

/** `capstan models get`: without a name it lists the models that have one. */
export async function getModel(name: string | undefined, flags: GetModelFlags, io: Io): Promise<void> {
  if (name === undefined) {
    io.stdout.write(formatTable(downloadableModels, columns, io));
    return;
  }
  const source = findSource(name, flags);
  const folder = modelFolder(io.env);
  const file = join(folder, `${name}.gguf`);
  if (!flags.force && (await exists(file))) {
    io.stderr.write(`${file} exists. Use --force to download it again.\n`);
    return;
  }
  ensureDataFolder(folder);
  if (source.license) io.stderr.write(`License: ${source.license}\n`);
  const progress = createProgressLine(name, io);
  const { sha256, isVerified } = await downloadFile({
    url: source.url,
    file,
    sha256: flags.sha256,
    onProgress: progress.update,
  }).finally(() => progress.end());
  if (!isVerified) io.stderr.write("The server sent no checksum: the file is not verified.\n");
  io.stderr.write(`Saved ${file} (SHA-256 ${sha256}).\n`);
  io.stdout.write(`local/${name}\n`);
}

const columns: readonly Column<DownloadableModel>[] = [
  { name: "NAME", value: ({ name }) => name },
  { name: "SIZE", value: ({ megabytes }) => formatBytes(megabytes * 1e6) },
  { name: "LICENSE", value: ({ license }) => license, shrinks: true },
];

function findSource(
  name: string,
  { url, sha256 }: GetModelFlags,
): { readonly url: string; readonly license?: string } {
  if (!/^[a-z0-9][\w.-]{0,99}$/i.test(name))
    throw new AgentError("invalid_input", `Invalid name "${name}". Use letters, digits, dots and dashes.`);
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256))
    throw new AgentError("invalid_input", "--sha256 must have 64 hexadecimal digits.");
  if (url !== undefined) {
    if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return { url };
    throw new AgentError(
      "invalid_input",
      `Invalid --url "${url}". Use an address that starts with https://.`,
    );
  }
  const known = downloadableModels.find((model) => model.name === name);
  if (known) return known;
  const names = downloadableModels.map((model) => model.name);
  const message = `Unknown model "${name}".${suggestName(name, names)} Known: ${names.join(", ")}. Use --url for others.`;
  throw new AgentError("model_not_found", message);
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

export const formatBytes = (bytes: number): string =>
  bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`;

/** A line that is rewritten on a terminal; elsewhere one line per tenth. */
function createProgressLine(name: string, { stderr }: Io) {
  let lastTenth = -1;
  let isOpen = false;
  const format = ({ bytes, total }: Progress): string => {
    const share = total ? ` of ${formatBytes(total)}, ${Math.floor((bytes / total) * 100)} %` : "";
    return `${name}: ${formatBytes(bytes)}${share}`;
  };
  return {
    update(progress: Progress) {
      const tenth = progress.total ? Math.floor((progress.bytes / progress.total) * 10) : 0;
      if (stderr.isTTY) stderr.write(`\r\u001b[K${format(progress)}`);
      else if (tenth !== lastTenth) stderr.write(`${format(progress)}\n`);
      lastTenth = tenth;
      isOpen = stderr.isTTY === true;
    },
    end() {
      if (isOpen) stderr.write("\n");
    },
  };
}
