import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { ToolContext, ToolReturn } from "capstan";
import type { Allowance } from "./allowance.ts";
import { type Directory, find, openWay } from "./directory.ts";
import { badArguments, quoted } from "./file-failure.ts";
import { openFile } from "./open-file.ts";
import { refuseProtected } from "./protected-names.ts";
import { replaceFile } from "./replace-file.ts";
import { createUnifiedDiff } from "./unified-diff.ts";
import { attempt, type Workspace, wayTo } from "./workspace.ts";

/** A file before it is changed. `text` is missing when it is too large or no text. */
export type Before = { readonly stats: BigIntStats; readonly text: string | undefined };

/** A workspace in which files are written, one after the other. */
export type WritableWorkspace = Workspace & {
  readonly allowance: Allowance;
  /** Runs after what was queued before it: who reads a file to change it must be alone. */
  queue<Value>(action: () => Promise<Value>): Promise<Value>;
};

/** What is to become of one file. */
export type Change = {
  readonly path: string;
  readonly context: Pick<ToolContext, "runId" | "signal">;
  /** Whether a missing file, and missing folders on the way, are made. */
  readonly create: boolean;
  /** The new content. What it throws ends the change. */
  after(before: Before | undefined): string;
};

/** Changes one file as a whole, or leaves it as it is. */
export function changeFile(workspace: WritableWorkspace, change: Change): Promise<ToolReturn> {
  const { root, allowance } = workspace;
  const { runId, signal } = change.context;
  const { folder, name } = wayTo(change.path, root);
  refuseProtected(root, [...folder, name]);
  return workspace.queue(() =>
    attempt(`write ${quoted(change.path)}`, async () => {
      // It may have waited for others, and its run have ended meanwhile.
      signal.throwIfAborted();
      const makeFolder = (): void => {
        // The folder and, in the end, the file.
        allowance.checkRun(runId, { bytes: 0, files: 2 });
        allowance.spend(runId, { bytes: 0, files: 1 });
      };
      const directory = await openWay(root, folder, change.create ? makeFolder : undefined);
      try {
        return await changeIn(directory, name, { ...change, workspace });
      } finally {
        await directory.handle.close();
      }
    }),
  );
}

async function changeIn(
  directory: Directory,
  name: string,
  { workspace, context, create, after }: Change & { readonly workspace: WritableWorkspace },
): Promise<ToolReturn> {
  const { allowance } = workspace;
  const { runId, signal } = context;
  const isNew = (await find(directory, name)) === undefined;
  const before = isNew && create ? undefined : await readBefore(directory, name, allowance.fileBytes);
  const text = after(before);
  if (!text.isWellFormed()) throw badArguments("The new content holds half a character.");
  const content = Buffer.from(text);
  const spending = { bytes: content.length, files: before ? 0 : 1 };
  await allowance.check(runId, spending);
  signal.throwIfAborted();
  await replaceFile(directory, { name, content, seen: before?.stats });
  allowance.spend(runId, spending);
  return told([...directory.names, name].join("/"), before, text);
}

/** Refuses what is not a regular file. */
export async function readBefore(directory: Directory, name: string, mostBytes: number): Promise<Before> {
  const { handle, stats } = await openFile(directory, name);
  try {
    return { stats, text: stats.size > mostBytes ? undefined : await textOf(handle, mostBytes) };
  } finally {
    await handle.close();
  }
}

/** Nothing when it is no text, or has become too large since it was measured. */
async function textOf(handle: FileHandle, mostBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(65_536), 0, 65_536, size);
    if (bytesRead === 0) break;
    size += bytesRead;
    if (size > mostBytes) return undefined;
    chunks.push(buffer.subarray(0, bytesRead));
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.includes(0)) return undefined;
  try {
    // The mark at the beginning, if there is one, stays where it is.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // another encoding, or none
  }
}

/** For the model the numbers, for people the lines: what was in the file is not told to the model by writing. */
function told(path: string, before: Before | undefined, after: string): ToolReturn {
  const wasBinary = before !== undefined && before.text === undefined;
  const diff = wasBinary ? undefined : createUnifiedDiff(path, before?.text, after);
  const about = diff ? `lines: ${diff.added} added, ${diff.removed} removed` : "which was not a text file";
  const isSame = before !== undefined && diff?.text === "";
  const content = isSame
    ? `${quoted(path)} is as it was.`
    : `${before ? "Changed" : "Created"} ${quoted(path)} (${about}).`;
  const text = diff?.text ?? `Binary file a/${path} is replaced by text\n`;
  return { content, ui: { kind: "diff", props: { path, diff: text } } };
}
