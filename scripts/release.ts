// `npm run release` packs all packages and reports what blocks a release. `--dry` also builds them and installs them into
// fresh projects. It publishes only with `--publish`, in CI, on the version's tag: see docs/releasing.md. `--verify`
// compares the registry with the build.
import { execFileSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  checkChangelog,
  checkContents,
  checkManifests,
  checkPublishEnvironment,
  checkUpgradeNotes,
  type ReleaseManifest,
} from "./release-checks.ts";
import { checkExports } from "./release-exports.ts";
import { checkInstallation } from "./release-install.ts";
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

/** Checks the packed tarballs: what is wrong with them. */
export async function checkTarballs(
  root: string,
  destination: string,
  packed: readonly ReleasedTarball[],
): Promise<string[]> {
  const localFolders = [root, homedir()].filter((path) => path.length > 3).map((path) => `${path}/`);
  const problems = packed.map(async ({ file }) => {
    const files = readTarball(join(destination, file));
    const tarball = new Uint8Array(readFileSync(join(destination, file)));
    return [...checkContents(getManifest(files), files, localFolders), ...(await checkExports(tarball))];
  });
  return (await Promise.all(problems)).flat();
}

/** Checks what a release needs beside good tarballs: versions, a repository, the changelog and the upgrade notes. */
export function checkRelease(
  root: string,
  destination: string,
  packed: readonly ReleasedTarball[],
): string[] {
  const manifests = packed.map(({ file }) => getManifest(readTarball(join(destination, file))));
  const { version = "" } = manifests[0] ?? {};
  return [
    ...checkManifests(manifests),
    ...checkChangelog(readFileSync(join(root, "CHANGELOG.md"), "utf8"), version),
    ...checkUpgradeNotes(readFileSync(join(root, "docs/upgrades.md"), "utf8"), version),
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

/** Packs all packages and writes their list and bill of materials. */
function packRelease(root: string, destination: string): ReleasedTarball[] {
  rmSync(destination, { recursive: true, force: true });
  const folders = globSync("packages/*", { cwd: root })
    .filter((folder) => !isPrivate(join(root, folder)))
    .sort();
  const packed = packPackages(
    destination,
    folders.map((folder) => join(root, folder)),
  );
  writeFileSync(join(destination, listName), `${JSON.stringify(packed, undefined, 2)}\n`);
  const sbom = createSbom(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")), folders);
  writeFileSync(join(destination, "sbom.cdx.json"), `${JSON.stringify(sbom, undefined, 2)}\n`);
  for (const { file, integrity } of packed) console.log(`${file}  ${integrity}`);
  return packed;
}

const listName = "release.json";

async function main(flags: readonly string[]): Promise<number> {
  const root = join(import.meta.dirname, "..");
  const destination = join(root, "dist/release");
  const fail = (problems: readonly string[]): number => {
    for (const problem of problems) console.error(problem);
    return problems.length > 0 ? 1 : 0;
  };
  if (flags.includes("--verify")) {
    const list = readFileSync(join(destination, listName), "utf8");
    return fail(comparePublished(JSON.parse(list), process.env));
  }
  const isDry = flags.includes("--dry");
  if (isDry)
    execFileSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  const packed = packRelease(root, destination);
  const problems = await checkTarballs(root, destination, packed);
  const blockers = checkRelease(root, destination, packed);
  if (isDry) {
    const tarballs = packed.map(({ file }) => ({
      manifest: getManifest(readTarball(join(destination, file))),
      file: join(destination, file),
    }));
    problems.push(...(await checkInstallation(tarballs, (step) => console.log(step))));
    if (blockers.length > 0) console.log(["Before publishing:", ...blockers].join("\n  "));
    return fail(problems);
  }
  problems.push(...blockers);
  const isPublishing = flags.includes("--publish");
  if (isPublishing) problems.push(...checkPublishEnvironment(process.env, packed[0]?.version ?? ""));
  if (problems.length === 0 && isPublishing) publishTarballs(packed, destination);
  if (problems.length === 0 && !isPublishing) console.log("Ready for release. Nothing was published.");
  return fail(problems);
}

if (process.argv[1] === import.meta.filename) process.exitCode = await main(process.argv.slice(2));
