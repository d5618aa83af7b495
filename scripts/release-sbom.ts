// The bill of materials of a release, as CycloneDX 1.6: our packages, and what npm would install with them, from the
// lockfile. The same lockfile gives the same bytes.

type LockEntry = {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
};
export type BillLock = { readonly packages: Readonly<Record<string, LockEntry>> };

export type Component = {
  readonly type: "library";
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { readonly expression: string }[];
  readonly hashes?: readonly { readonly alg: "SHA-512"; readonly content: string }[];
};
export type Bill = {
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly version: 1;
  readonly components: readonly Component[];
};

/** `folders`: of the packages that are released, as the lockfile names them. */
export function billOf({ packages }: BillLock, folders: readonly string[]): Bill {
  const found = new Map<string, Component>();
  const visited = new Set<string>();
  const visit = (path: string): void => {
    if (visited.has(path)) return;
    visited.add(path);
    const entry = packages[path] ?? {};
    const component = componentOf(nameAt(path, entry), entry);
    found.set(component.purl, component);
    for (const name of Object.keys(entry.dependencies ?? {})) {
      const needed = resolved(packages, path, name);
      if (needed === undefined) throw new Error(`The lockfile lacks ${name}, which ${path} needs.`);
      visit(needed);
    }
  };
  for (const folder of folders) visit(folder);
  const components = [...found.values()].sort((one, other) => (one.purl < other.purl ? -1 : 1));
  return { bomFormat: "CycloneDX", specVersion: "1.6", version: 1, components };
}

/** Where Node would find it: in the nearest `node_modules` upwards. A workspace is a link to its folder. */
function resolved(packages: BillLock["packages"], from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    const entry = packages[path];
    if (entry) return entry.link ? entry.resolved : path;
    if (folder === "") return undefined;
  }
}

function nameAt(path: string, entry: LockEntry & { readonly name?: string }): string {
  // A workspace has its name only where that is not the name of its folder.
  return (
    entry.name ??
    path
      .split(/.*node_modules\//)
      .at(-1)
      ?.replace(/^packages\//, "") ??
    path
  );
}

function componentOf(name: string, { version = "", license, integrity }: LockEntry): Component {
  const [, digest] = /^sha512-(\S+)/.exec(integrity ?? "") ?? [];
  return {
    ...{ type: "library", name, version, purl: `pkg:npm/${name.replace("@", "%40")}@${version}` },
    ...(license && { licenses: [{ expression: license }] }),
    ...(digest && {
      hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }],
    }),
  };
}
