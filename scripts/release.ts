// `npm run release`: packs all packages and says what is in the way of a release. Publishes nothing, unless it is told
// `--publish`, in CI, on the tag of the version: see docs/releasing.md. `--verify` compares the registry with what was
// built.
import { execFileSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  changelogProblems,
  contentProblems,
  manifestProblems,
  publishProblems,
  type ReleaseManifest,
} from "./release-checks.ts";
import { billOf } from "./release-sbom.ts";
import {
  filesIn,
  manifestIn,
  packInto,
  publishedDifferences,
  type ReleasedTarball,
} from "./release-tarballs.ts";

/** Whoever is needed comes before who needs it. */
export function releaseOrder(manifests: readonly ReleaseManifest[]): ReleaseManifest[] {
  const ordered: ReleaseManifest[] = [];
  const visit = (manifest: ReleaseManifest): void => {
    if (ordered.includes(manifest)) return;
    for (const needed of Object.keys(manifest.dependencies ?? {})) {
      const own = manifests.find(({ name }) => name === needed);
      if (own) visit(own);
    }
    ordered.push(manifest);
  };
  for (const manifest of manifests) visit(manifest);
  return ordered;
}

/** All that is in the way, from what is packed and written in `root`. */
export function releaseProblems(
  root: string,
  destination: string,
  packed: readonly ReleasedTarball[],
): string[] {
  const machine = [root, homedir()].filter((path) => path.length > 3).map((path) => `${path}/`);
  const contents = packed.map(({ file }) => filesIn(join(destination, file)));
  const manifests = contents.map(manifestIn);
  return [
    ...manifestProblems(manifests),
    ...changelogProblems(readFileSync(join(root, "CHANGELOG.md"), "utf8"), manifests[0]?.version ?? ""),
    ...contents.flatMap((files, index) =>
      contentProblems(manifests[index] ?? manifestIn(files), files, machine),
    ),
  ];
}

function publish(packed: readonly ReleasedTarball[], destination: string): void {
  const manifests = packed.map(({ file }) => manifestIn(filesIn(join(destination, file))));
  for (const { name } of releaseOrder(manifests)) {
    const { file = "" } = packed.find((one) => one.name === name) ?? {};
    const words = [
      "publish",
      join(destination, file),
      "--provenance",
      "--access",
      "public",
      "--ignore-scripts",
    ];
    execFileSync("npm", words, { stdio: "inherit" });
  }
}

function main(flags: readonly string[]): number {
  const root = join(import.meta.dirname, "..");
  const destination = join(root, "dist/release");
  const list = join(destination, "release.json");
  const say = (problems: readonly string[]): number => {
    for (const problem of problems) console.error(problem);
    return problems.length > 0 ? 1 : 0;
  };
  if (flags.includes("--verify"))
    return say(publishedDifferences(JSON.parse(readFileSync(list, "utf8")), process.env));
  rmSync(destination, { recursive: true, force: true });
  const folders = globSync("packages/*", { cwd: root }).sort();
  const packed = packInto(
    destination,
    folders.map((folder) => join(root, folder)),
  );
  writeFileSync(list, `${JSON.stringify(packed, undefined, 2)}\n`);
  const bill = billOf(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")), folders);
  writeFileSync(join(destination, "sbom.cdx.json"), `${JSON.stringify(bill, undefined, 2)}\n`);
  for (const { file, integrity } of packed) console.log(`${file}  ${integrity}`);
  const problems = releaseProblems(root, destination, packed);
  const isPublishing = flags.includes("--publish");
  if (isPublishing) problems.push(...publishProblems(process.env, packed[0]?.version ?? ""));
  if (problems.length === 0 && isPublishing) publish(packed, destination);
  if (problems.length === 0 && !isPublishing) console.log("Nothing is in the way. Nothing was published.");
  return say(problems);
}

if (process.argv[1] === import.meta.filename) process.exitCode = main(process.argv.slice(2));
