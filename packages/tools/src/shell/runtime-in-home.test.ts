import { execFileSync } from "node:child_process";
import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { canary, hasBubblewrap } from "./testing/temporary-shell.ts";

// The sandbox has its own /tmp and /dev/shm, which would hide a home folder there.
const base = realpathSync(mkdtempSync("/var/tmp/capstan-runtime-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Puts Node at the path: a copy, because a hard link needs the same disk, and a link would be followed. */
function installNode(path: string): void {
  const copy = join(base, "copy-of-node");
  if (!existsSync(copy)) copyFileSync(process.execPath, copy, constants.COPYFILE_FICLONE);
  linkSync(copy, path);
}

/** Runs a script in the sandbox of a `shellTool` whose own process is this Node. */
function runShell(
  node: string,
  { home, script }: { readonly home: string; readonly script: string },
): string {
  const cwd = join(base, "project");
  mkdirSync(cwd, { recursive: true });
  const program = `
    import { shellTool } from ${JSON.stringify(fileURLToPath(new URL("../shell-tool.ts", import.meta.url)))};
    const tool = shellTool({ cwd: ${JSON.stringify(cwd)}, sandbox: "required" });
    const context = { signal: new AbortController().signal, progress: () => undefined };
    console.log((await tool.execute({ script: ${JSON.stringify(script)} }, context)).content);`;
  const args = ["--conditions=capstan-source", "--no-warnings", "--input-type=module", "--eval", program];
  const env = { PATH: `${join(node, "..")}:${process.env.PATH}`, HOME: home };
  return execFileSync(node, args, {
    env,
    encoding: "utf8",
    cwd: fileURLToPath(new URL(".", import.meta.url)),
  });
}

describe.skipIf(!hasBubblewrap)("Node below the home folder", () => {
  it.each([
    "bin/node",
    "node",
  ])("as %s shows commands Node and its packages, and no other file there (A40)", (file) => {
    const home = join(base, file.replace("/", "-"));
    mkdirSync(join(home, "bin"), { recursive: true });
    mkdirSync(join(home, "lib/node_modules/tool"), { recursive: true });
    installNode(join(home, file));
    writeFileSync(join(home, "secret.txt"), canary);
    writeFileSync(join(home, "bin/secret"), canary);
    const program = join(home, "lib/node_modules/tool/main.js");
    writeFileSync(program, '#!/usr/bin/env node\nconsole.log("tool " + (6 * 7));\n', { mode: 0o755 });
    symlinkSync("../lib/node_modules/tool/main.js", join(home, "bin/tool"));
    const script = `cat ${home}/secret.txt ${home}/bin/secret; find ${home}; ${join(home, file)} --print '"node " + 6 * 7'; tool`;
    const output = runShell(join(home, file), { home, script });
    expect(output).not.toContain(canary);
    expect(output).toContain("node 42");
    if (file === "bin/node") expect(output).toContain("tool 42");
    expect(output).not.toMatch(/\/bin\/secret$/m);
  });
});
