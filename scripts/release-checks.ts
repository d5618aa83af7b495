// Checks before publishing. Pure functions from manifests, texts and an environment to a list of problems.

export type ReleaseManifest = {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly repository?: { readonly url?: string } | string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
};

/** One file of a tarball. `text` is meaningless for binary files. */
export type TarballFile = { readonly path: string; readonly text: string };

const installScripts = ["preinstall", "install", "postinstall", "prepare"];

/** All packages must share one version, depend on each other exactly, and run no install scripts. */
export function checkManifests(manifests: readonly ReleaseManifest[]): string[] {
  const [first] = manifests;
  const names = new Set(manifests.map(({ name }) => name));
  return manifests.flatMap((manifest) => {
    const { name, version, scripts = {}, dependencies = {} } = manifest;
    const ownDependencies = Object.entries(dependencies).filter(([dependency]) => names.has(dependency));
    return [
      ...(version === first?.version
        ? []
        : [`${name} has version ${version}, others have ${first?.version}.`]),
      ...ownDependencies
        .filter(([, range]) => range !== version)
        .map(([dependency, range]) => `${name} ${version} needs ${dependency} ${range}, not ${version}.`),
      ...Object.entries(dependencies)
        .filter(([, range]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(range))
        .map(
          ([dependency, range]) => `${name} needs ${dependency} "${range}", which is not an exact version.`,
        ),
      ...installScripts
        .filter((script) => script in scripts)
        .map((script) => `${name} would run "${script}" on installation.`),
      ...(manifest.license ? [] : [`${name} has no license.`]),
      ...(manifest.repository ? [] : [`${name} has no repository, which provenance needs.`]),
    ];
  });
}

/** The changelog must have a dated, non-empty section for this version, and nothing unreleased. */
export function checkChangelog(changelog: string, version: string): string[] {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`${version} `) || text.startsWith(`${version}\n`));
  if (!section) return [`CHANGELOG.md has no section "## ${version} (date)".`];
  const problems: string[] = [];
  if (!/^\S+ \(\d{4}-\d\d-\d\d\)\n/.test(section))
    problems.push(`The section ${version} in CHANGELOG.md has no date.`);
  if (!/^- /m.test(section)) problems.push(`The section ${version} in CHANGELOG.md is empty.`);
  const unreleasedSection = sections.find((text) => text.startsWith("Unreleased"));
  if (unreleasedSection && /^- /m.test(unreleasedSection))
    problems.push("CHANGELOG.md still has entries under Unreleased.");
  return problems;
}

/** The upgrade notes must have a section for each minor version after the first. */
export function checkUpgradeNotes(notes: string, version: string): string[] {
  const minor = version.replace(/\.\d+(?:-.*)?$/, "");
  const hasSection = notes
    .split("\n")
    .some((line) => line.startsWith("## From ") && line.endsWith(` to ${minor}`));
  return hasSection || minor === "0.1" ? [] : [`docs/upgrades.md has no section "## From … to ${minor}".`];
}

/** The templates of new projects contain tests. */
const unwantedFile =
  /^(?!templates\/).*\.test(?:-d)?\.|(?:^|\/)\.env|\.(?:pem|key|p12|sqlite|db|tgz)$|(?:^|\/)(?:fixtures|\.npmrc)/;
/** Matches keys of model providers, registries and clouds. */
export const secretPattern: RegExp =
  /\b(?:sk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}|AKIA[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|AIza[\w-]{35})\b|-----BEGIN [A-Z ]*PRIVATE KEY-----/;

/** Reports unwanted files, secrets, local paths, and missing exports. `localFolders` are paths of the build machine. */
export function checkContents(
  manifest: ReleaseManifest,
  files: readonly TarballFile[],
  localFolders: readonly string[],
): string[] {
  const { name, exports = {}, bin = {} } = manifest;
  const paths = new Set(files.map(({ path }) => path));
  const exportedPaths = [
    ...Object.values(exports).flatMap((entry) => (typeof entry === "string" ? entry : Object.values(entry))),
    ...Object.values(bin),
  ];
  const missing = exportedPaths.map((path) => path.replace(/^\.\//, "")).filter((path) => !paths.has(path));
  return [
    // Not every package ships its sources. There the source condition points nowhere, which is harmless.
    ...missing.filter((path) => !path.startsWith("src/")).map((path) => `${name} lacks ${path}.`),
    ...["LICENSE", "README.md"].flatMap((path) => (paths.has(path) ? [] : [`${name} lacks ${path}.`])),
    ...files.flatMap(({ path, text }) => [
      ...(unwantedFile.test(path) ? [`${name} must not contain ${path}.`] : []),
      ...(secretPattern.test(text) ? [`${name}: ${path} contains a possible secret.`] : []),
      ...(localFolders.some((folder) => containsPath(text, folder))
        ? [`${name}: ${path} contains a path of this machine.`]
        : []),
      ...(path.endsWith(".map") ? checkSourceMap(name, path, text) : []),
    ]),
  ];
}

/** Whether a path below the folder is in the text; a folder of the same name inside another one does not count. */
function containsPath(text: string, folder: string): boolean {
  let at = text.indexOf(folder);
  while (at !== -1 && /[\w.}-]/.test(text[at - 1] ?? "")) at = text.indexOf(folder, at + 1);
  return at !== -1;
}

function checkSourceMap(name: string, path: string, text: string): string[] {
  const { sources = [] } = JSON.parse(text) as { sources?: readonly string[] };
  const absolute = sources.find((source) => /^(?:\/|[A-Za-z]:|file:)/.test(source));
  return absolute === undefined ? [] : [`${name}: ${path} names the source ${absolute}.`];
}

/** Returns the reasons not to publish from this environment. */
export function checkPublishEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  version: string,
): string[] {
  const tokens = ["NPM_TOKEN", "NODE_AUTH_TOKEN"].filter((name) => env[name]);
  return [
    ...(env.CI === "true" ? [] : ["Publishing is allowed only in CI."]),
    ...(env.ACTIONS_ID_TOKEN_REQUEST_URL
      ? []
      : ["No OpenID token available: the job needs `id-token: write`."]),
    ...(env.GITHUB_REF === `refs/tags/v${version}` ? [] : [`This is not the tag v${version}.`]),
    ...tokens.map((name) => `${name} is set: remove it, trusted publishing needs no token.`),
  ];
}
