// `npm run release` packs all packages and reports what blocks a release. It publishes only with `--publish`, in CI, on
// the version's tag: see docs/releasing.md. `--verify` compares the registry with the build.
import { execFileSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  checkChangelog,
  checkContents,
  checkManifests,
  checkPublishEnvironment,
  type ReleaseManifest,
} from "./release-checks.ts";
import { createSbom } from "./release-sbom.ts";
import {
  comparePublished,
  getManifest,
  packPackages,
  type ReleasedTarball,
  readTarball,
} from "./release-tarballs.ts";

/** Sorts dependencies before their dependents. */
export function sortByDependency(manifests: readonly ReleaseManifest[]): ReleaseManifest[] {
  const ordered: ReleaseManifest[] = [];
  const visit = (manifest: ReleaseManifest): void => {
    if (ordered.includes(manifest)) return;
    for (const dependency of Object.keys(manifest.dependencies ?? {})) {
      const dependencyManifest = manifests.find(({ name }) => name === dependency);
      if (dependencyManifest) visit(dependencyManifest);
    }
    ordered.push(manifest);
  };
  for (const manifest of manifests) visit(manifest);
  return ordered;
}

/** Checks the packed tarballs and the changelog in `root`. */
export function checkRelease(
  root: string,
  destination: string,
  packed: readonly ReleasedTarball[],
): string[] {
  const localFolders = [root, homedir()].filter((path) => path.length > 3).map((path) => `${path}/`);
  const contents = packed.map(({ file }) => readTarball(join(destination, file)));
  const manifests = contents.map(getManifest);
  return [
    ...checkManifests(manifests),
    ...checkChangelog(readFileSync(join(root, "CHANGELOG.md"), "utf8"), manifests[0]?.version ?? ""),
    ...contents.flatMap((files, index) =>
      checkContents(manifests[index] ?? getManifest(files), files, localFolders),
    ),
  ];
}

function publishTarballs(packed: readonly ReleasedTarball[], destination: string): void {
  const manifests = packed.map(({ file }) => getManifest(readTarball(join(destination, file))));
  for (const { name } of sortByDependency(manifests)) {
    const { file = "" } = packed.find((one) => one.name === name) ?? {};
    const npmArguments = [
      "publish",
      join(destination, file),
      "--provenance",
      "--access",
      "public",
      "--ignore-scripts",
    ];
    execFileSync("npm", npmArguments, { stdio: "inherit" });
  }
}

function isPrivate(folder: string): boolean {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).private === true;
}

function main(flags: readonly string[]): number {
  const root = join(import.meta.dirname, "..");
  const destination = join(root, "dist/release");
  const listFile = join(destination, "release.json");
  const printProblems = (problems: readonly string[]): number => {
    for (const problem of problems) console.error(problem);
    return problems.length > 0 ? 1 : 0;
  };
  if (flags.includes("--verify"))
    return printProblems(comparePublished(JSON.parse(readFileSync(listFile, "utf8")), process.env));
  rmSync(destination, { recursive: true, force: true });
  const folders = globSync("packages/*", { cwd: root })
    .filter((folder) => !isPrivate(join(root, folder)))
    .sort();
  const packed = packPackages(
    destination,
    folders.map((folder) => join(root, folder)),
  );
  writeFileSync(listFile, `${JSON.stringify(packed, undefined, 2)}\n`);
  const sbom = createSbom(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")), folders);
  writeFileSync(join(destination, "sbom.cdx.json"), `${JSON.stringify(sbom, undefined, 2)}\n`);
  for (const { file, integrity } of packed) console.log(`${file}  ${integrity}`);
  const problems = checkRelease(root, destination, packed);
  const isPublishing = flags.includes("--publish");
  if (isPublishing) problems.push(...checkPublishEnvironment(process.env, packed[0]?.version ?? ""));
  if (problems.length === 0 && isPublishing) publishTarballs(packed, destination);
  if (problems.length === 0 && !isPublishing) console.log("Ready for release. Nothing was published.");
  return printProblems(problems);
}

if (process.argv[1] === import.meta.filename) process.exitCode = main(process.argv.slice(2));
