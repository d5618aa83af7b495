import { AgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { Eval } from "./define-eval.ts";
import {
  formatToolRecordings,
  listToolRecordings,
  parseToolRecordings,
  type ToolRecording,
} from "./tool-recordings.ts";

/** Loads the recordings of an eval; undefined if it names none, and then each case uses the recordings of its own run. */
export async function loadRecordings(
  { name, recordings }: Eval,
  isRecording: boolean,
): Promise<readonly ToolRecording[] | undefined> {
  if (isRecording && typeof recordings !== "string") {
    const message = `The eval "${name}" has no file to record its tools in: set \`recordings\` to its path.`;
    throw new AgentError("invalid_definition", message);
  }
  if (recordings === undefined || isRecording) return recordings === undefined ? undefined : [];
  if (typeof recordings !== "string") return listToolRecordings(recordings);
  const { readFile } = await import("node:fs/promises");
  const text = await readFile(recordings, "utf8").catch((error: unknown) => {
    const isMissing = isRecord(error) && error.code === "ENOENT";
    const problem = isMissing ? "does not exist" : "cannot be read";
    const message = `The recordings ${recordings} of the eval "${name}" ${problem}. Record them with \`capstan eval "${name}" --record\`.`;
    throw new AgentError("recording_missing", message, { cause: error });
  });
  return parseToolRecordings(text, recordings);
}

/** Replaces the file of recordings. */
export async function writeRecordings(
  { recordings: file }: Eval,
  recordings: readonly ToolRecording[],
): Promise<void> {
  const { mkdir, writeFile } = await import("node:fs/promises");
  const { dirname } = await import("node:path");
  await mkdir(dirname(String(file)), { recursive: true });
  await writeFile(String(file), formatToolRecordings(recordings));
}
