// Builds what the container file describes in a folder: a root file system without the base image.
import { cpSync, existsSync, mkdirSync, renameSync, statSync } from "node:fs";
import { basename, join, matchesGlob, relative, resolve } from "node:path";
import { getVariables, type Instruction, parseContainerFile, type Stage } from "./container-file.ts";
import { readKitFile } from "./kit-files.ts";
import { runBuildCommand } from "./sandbox.ts";

export type BuildOptions = {
  /** The project: its files are copied, without the ignored ones. */
  readonly context: string;
  /** An empty folder for the stages. */
  readonly place: string;
  /** Variables of the build, such as the registry of npm. */
  readonly env: Readonly<Record<string, string>>;
  /** Cache of npm: an existing folder. */
  readonly cache: string;
};

/** A built image. */
export type Image = {
  readonly root: string;
  readonly workingFolder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stage: Stage;
};

type BuildState = BuildOptions & { readonly images: Map<string, Image> };

export async function buildImage(options: BuildOptions): Promise<Image> {
  const state: BuildState = { ...options, images: new Map() };
  let image: Image | undefined;
  for (const stage of parseContainerFile(readKitFile("Dockerfile"))) {
    image = await buildStage(stage, state);
    state.images.set(stage.name, image);
  }
  if (!image) throw new Error("The container file has no stage.");
  return image;
}

async function buildStage(stage: Stage, state: BuildState): Promise<Image> {
  const root = join(state.place, `stage-${stage.name || "final"}`);
  const env = getVariables(stage);
  let workingFolder = "/";
  mkdirSync(root, { recursive: true, mode: 0o755 });
  for (const instruction of stage.instructions) {
    const { keyword, words, text } = instruction;
    if (keyword === "WORKDIR") {
      workingFolder = resolve(workingFolder, words[0] ?? "");
      mkdirSync(join(root, workingFolder), { recursive: true, mode: 0o755 });
    } else if (keyword === "COPY") copyFiles(instruction, join(root, workingFolder), state);
    else if (keyword === "RUN")
      await runBuildCommand(text, {
        ...{ root, workingFolder, cache: state.cache },
        env: { ...env, ...state.env },
      });
  }
  return { root, workingFolder, env, stage };
}

function copyFiles({ flags, words }: Instruction, folder: string, state: BuildState): void {
  const from = flags.from === undefined ? undefined : state.images.get(flags.from);
  if (flags.from !== undefined && !from) throw new Error(`There is no stage ${flags.from}.`);
  const ignored = parseIgnoreFile(readKitFile("Dockerfile.dockerignore"));
  const target = words.at(-1) ?? "";
  for (const word of words.slice(0, -1)) {
    const source = join(from?.root ?? state.context, word);
    if (!existsSync(source)) throw new Error(`COPY finds no ${word}.`);
    if (from) {
      renameSync(source, join(folder, target)); // no other stage needs it, and copying takes long
      continue;
    }
    const isFolder = statSync(source).isDirectory();
    cpSync(source, isFolder ? join(folder, target) : join(folder, target, basename(source)), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !isIgnored(relative(state.context, path), ignored),
    });
  }
}

function parseIgnoreFile(text: string): string[] {
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

/**
 * As Docker does it: a pattern matches a path from the root of the context, and everything below it. The last pattern
 * that matches decides, and `!` makes an exception.
 */
function isIgnored(path: string, patterns: readonly string[]): boolean {
  const last = patterns.findLast((pattern) => {
    const glob = pattern.replace(/^!/, "");
    return matchesGlob(path, glob) || matchesGlob(path, `${glob}/**`);
  });
  return last !== undefined && !last.startsWith("!");
}
