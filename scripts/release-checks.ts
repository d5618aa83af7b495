// What must hold before anything is published. Pure: manifests, texts and an environment go in, sentences come out.

export type ReleaseManifest = {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly repository?: { readonly url?: string } | string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
};

/** One file of a tarball; `text` of a binary one is of no use, and of no harm. */
export type TarballFile = { readonly path: string; readonly text: string };

const runByInstall = ["preinstall", "install", "postinstall", "prepare"];

/** All packages have one version and need each other at exactly that; installing them runs nothing. */
export function manifestProblems(manifests: readonly ReleaseManifest[]): string[] {
  const [first] = manifests;
  const names = new Set(manifests.map(({ name }) => name));
  return manifests.flatMap((manifest) => {
    const { name, version, scripts = {}, dependencies = {} } = manifest;
    const own = Object.entries(dependencies).filter(([needed]) => names.has(needed));
    return [
      ...(version === first?.version ? [] : [`${name} has version ${version}, others ${first?.version}.`]),
      ...own
        .filter(([, wanted]) => wanted !== version)
        .map(([needed, wanted]) => `${name} ${version} needs ${needed} ${wanted}, not ${version}.`),
      ...Object.entries(dependencies)
        .filter(([, wanted]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(wanted))
        .map(([needed, wanted]) => `${name} needs ${needed} "${wanted}", which is no exact version.`),
      ...runByInstall
        .filter((script) => script in scripts)
        .map((script) => `${name} would run "${script}" on the machine of whoever installs it.`),
      ...(manifest.license ? [] : [`${name} names no licence.`]),
      ...(manifest.repository ? [] : [`${name} names no repository, which provenance is checked against.`]),
    ];
  });
}

/** What users notice is written down, under this version and a date. */
export function changelogProblems(changelog: string, version: string): string[] {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`${version} `) || text.startsWith(`${version}\n`));
  if (!section) return [`CHANGELOG.md has no section "## ${version} (date)".`];
  const problems: string[] = [];
  if (!/^\S+ \(\d{4}-\d\d-\d\d\)\n/.test(section))
    problems.push(`The section ${version} of CHANGELOG.md has no date.`);
  if (!/^- /m.test(section)) problems.push(`The section ${version} of CHANGELOG.md is empty.`);
  const open = sections.find((text) => text.startsWith("Unreleased"));
  if (open && /^- /m.test(open)) problems.push("CHANGELOG.md still has something under Unreleased.");
  return problems;
}

const unwanted =
  /\.test(?:-d)?\.|(?:^|\/)\.env|\.(?:pem|key|p12|sqlite|db|tgz)$|(?:^|\/)(?:fixtures|\.npmrc)/;
/** What looks like a key of a provider, of a registry or of a cloud. */
export const secretPattern: RegExp =
  /\b(?:sk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}|AKIA[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|AIza[\w-]{35})\b|-----BEGIN [A-Z ]*PRIVATE KEY-----/;

/** What a tarball holds, and must not; and what its manifest promises. `machine`: folders of who built it. */
export function contentProblems(
  manifest: ReleaseManifest,
  files: readonly TarballFile[],
  machine: readonly string[],
): string[] {
  const { name, exports = {}, bin = {} } = manifest;
  const paths = new Set(files.map(({ path }) => path));
  const promised = [
    ...Object.values(exports).flatMap((entry) => Object.values(entry)),
    ...Object.values(bin),
  ];
  const missing = promised.map((path) => path.replace(/^\.\//, "")).filter((path) => !paths.has(path));
  return [
    // Sources are shipped where packages ship them; elsewhere their condition leads nowhere, and nobody asks for it.
    ...missing.filter((path) => !path.startsWith("src/")).map((path) => `${name} lacks ${path}.`),
    ...(paths.has("LICENSE") ? [] : [`${name} lacks LICENSE.`]),
    ...files.flatMap(({ path, text }) => [
      ...(unwanted.test(path) ? [`${name} must not hold ${path}.`] : []),
      ...(secretPattern.test(text) ? [`${name}: ${path} holds what looks like a secret.`] : []),
      ...(machine.some((folder) => text.includes(folder))
        ? [`${name}: ${path} has a path of this machine.`]
        : []),
      ...(path.endsWith(".map") ? mapProblems(name, path, text) : []),
    ]),
  ];
}

function mapProblems(name: string, path: string, text: string): string[] {
  const { sources = [] } = JSON.parse(text) as { sources?: readonly string[] };
  const absolute = sources.find((source) => /^(?:\/|[A-Za-z]:|file:)/.test(source));
  return absolute === undefined ? [] : [`${name}: ${path} names the source ${absolute}.`];
}

/** Why this is no place to publish from. */
export function publishProblems(
  env: Readonly<Record<string, string | undefined>>,
  version: string,
): string[] {
  const tokens = ["NPM_TOKEN", "NODE_AUTH_TOKEN"].filter((name) => env[name]);
  return [
    ...(env.CI === "true" ? [] : ["Only CI publishes: nobody's own machine is to be trusted with it."]),
    ...(env.ACTIONS_ID_TOKEN_REQUEST_URL
      ? []
      : ["There is no OpenID token to be had: the job needs `id-token: write`."]),
    ...(env.GITHUB_REF === `refs/tags/v${version}` ? [] : [`This is not the tag v${version}.`]),
    ...tokens.map((name) => `${name} is set: trusted publishing needs no token, so there should be none.`),
  ];
}
