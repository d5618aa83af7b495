import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough, type Readable } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { createNamespaceTree } from "./process-tree.ts";
import { findProcesses, hasBubblewrap } from "./testing/temporary-shell.ts";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Starts a sandbox that stays where it is not set up yet, until its fourth pipe is written to. */
function startBlocked(mark: string): ChildProcess {
  const args = [
    "--unshare-all",
    "--unshare-user",
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "--die-with-parent",
  ];
  const child = spawn("bwrap", [...args, "--info-fd", "3", "--block-fd", "4", "--", "sleep", mark], {
    stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"],
  });
  children.push(child);
  return child;
}

describe.skipIf(!hasBubblewrap)("the processes of a sandbox that is not set up", () => {
  it("end when the command is killed, and none stays behind", async () => {
    const mark = `3600.${process.pid}1`;
    const child = startBlocked(mark);
    const info = child.stdio[3] as Readable;
    const tree = createNamespaceTree(child, info);
    await once(info, "data");
    tree.kill();
    await once(child, "close");
    await expect.poll(() => findProcesses(mark)).toEqual([]);
  });

  it("end as soon as there are any, when the command is killed before", async () => {
    const mark = `3600.${process.pid}2`;
    const child = startBlocked(mark);
    createNamespaceTree(child, child.stdio[3] as Readable).kill();
    await once(child, "close");
    await expect.poll(() => findProcesses(mark)).toEqual([]);
  });
});

describe.skipIf(process.platform !== "linux")("the measure of a sandbox that is not set up", () => {
  it("does not count the processes of this machine", async () => {
    const child = spawn("sleep", ["3600"]);
    children.push(child);
    const info = new PassThrough();
    const tree = createNamespaceTree(child, info);
    const received = once(info, "data");
    info.write(`{ "child-pid": ${child.pid} }`);
    await received;
    expect(tree.measure()).toBeUndefined();
  });
});
