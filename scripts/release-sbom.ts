// The software bill of materials of a release, as CycloneDX 1.6: our packages and their dependencies, from the lockfile.
// Deterministic: the same lockfile gives the same bytes.

type LockEntry = {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
};
export type SbomLock = { readonly packages: Readonly<Record<string, LockEntry>> };

export type Component = {
  readonly type: "library";
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { readonly expression: string }[];
  readonly hashes?: readonly { readonly alg: "SHA-512"; readonly content: string }[];
};
export type Sbom = {
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly version: 1;
  readonly components: readonly Component[];
};

/** `folders` are the released packages, as named in the lockfile. */
export function createSbom({ packages }: SbomLock, folders: readonly string[]): Sbom {
  const found = new Map<string, Component>();
  const visited = new Set<string>();
  const visit = (path: string): void => {
    if (visited.has(path)) return;
    visited.add(path);
    const entry = packages[path] ?? {};
    const component = createComponent(getPackageName(path, entry), entry);
    found.set(component.purl, component);
    for (const name of Object.keys(entry.dependencies ?? {})) {
      const dependencyPath = resolvePath(packages, path, name);
      if (dependencyPath === undefined)
        throw new Error(`The lockfile lacks ${name}, a dependency of ${path}.`);
      visit(dependencyPath);
    }
  };
  for (const folder of folders) visit(folder);
  const components = [...found.values()].sort((left, right) => (left.purl < right.purl ? -1 : 1));
  return { bomFormat: "CycloneDX", specVersion: "1.6", version: 1, components };
}

/** Resolves like Node: the nearest `node_modules` upwards. A workspace is a link to its folder. */
function resolvePath(packages: SbomLock["packages"], from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    const entry = packages[path];
    if (entry) return entry.link ? entry.resolved : path;
    if (folder === "") return undefined;
  }
}

function getPackageName(path: string, entry: LockEntry & { readonly name?: string }): string {
  // A workspace has a name only if it differs from the name of its folder.
  return (
    entry.name ??
    path
      .split(/.*node_modules\//)
      .at(-1)
      ?.replace(/^packages\//, "") ??
    path
  );
}

function createComponent(name: string, { version = "", license, integrity }: LockEntry): Component {
  const [, digest] = /^sha512-(\S+)/.exec(integrity ?? "") ?? [];
  return {
    ...{ type: "library", name, version, purl: `pkg:npm/${name.replace("@", "%40")}@${version}` },
    ...(license && { licenses: [{ expression: license }] }),
    ...(digest && {
      hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }],
    }),
  };
}
