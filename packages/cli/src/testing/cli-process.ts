import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "../../../..");
/** Where `scripts/built-workspace.ts` has built the packages, which start in half of the CPU time of the sources. */
const built = process.env.CAPSTAN_BUILT;
const workspace = built ?? root;
const compileCache = process.env.NODE_COMPILE_CACHE;
const bin = "packages/cli/bin/capstan.js";

/** Arguments of Node that start the CLI from its sources, for a configuration that imports other sources. */
export const sourceCommand: readonly string[] = [
  "--conditions=capstan-source",
  "--disable-warning=ExperimentalWarning",
  join(root, bin),
];

/** Arguments of Node that start the CLI. */
export const cliCommand: readonly string[] = built === undefined ? sourceCommand : [join(built, bin)];

/** A folder outside of the workspace, with its own data folder, where the packages can be imported. */
export interface ScratchProject {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  write(path: string, text: string): void;
  remove(): void;
}

/** Makes one. */
export function createScratchProject(files: Readonly<Record<string, string>> = {}): ScratchProject {
  const folder = mkdtempSync(join(tmpdir(), "capstan-cli-"));
  symlinkSync(join(workspace, "node_modules"), join(folder, "node_modules"));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return {
    folder,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: folder,
      CAPSTAN_HOME: join(folder, ".data"),
      CAPSTAN_MODEL: "offline",
      ...(compileCache && { NODE_COMPILE_CACHE: compileCache }),
    },
    write,
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
  };
}

/** Runs the CLI in a child process. */
export interface CliProcess {
  readonly child: ChildProcessWithoutNullStreams;
  stdout(): string;
  stderr(): string;
  /** Resolves when stdout or stderr has it. */
  waitForOutput(what: RegExp): Promise<RegExpExecArray>;
  readonly exit: Promise<number | string>;
}

/** Starts it. */
export function startCli(
  words: readonly string[],
  { folder, env }: Pick<ScratchProject, "folder" | "env">,
  command: readonly string[] = cliCommand,
): CliProcess {
  const child = spawn(process.execPath, [...command, ...words], { cwd: folder, env: { ...env } });
  const output = { stdout: "", stderr: "" };
  const listeners = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
      for (const tell of listeners) tell();
    });
  const exit = new Promise<number | string>((resolve) => {
    child.on("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  return {
    child,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    exit,
    waitForOutput(what) {
      const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
      const look = () => {
        const found = what.exec(output.stdout) ?? what.exec(output.stderr);
        if (!found) return;
        listeners.delete(look);
        resolve(found);
      };
      listeners.add(look);
      void exit.then((code) =>
        reject(new Error(`It left with ${code} and has not said ${what}:\n${output.stdout}${output.stderr}`)),
      );
      look();
      return promise;
    },
  };
}
