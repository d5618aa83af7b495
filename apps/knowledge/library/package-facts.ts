import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { InstalledPackage } from "./find-documents.ts";

/** A person from package metadata. Email addresses are omitted: they were not published for this purpose. */
export type Person = {
  readonly name: string;
  readonly url?: string;
  readonly packages: readonly { readonly name: string; readonly role: Role }[];
};

type Role = "author" | "maintainer" | "contributor";

export type PackageFacts = {
  readonly name: string;
  readonly url?: string;
  readonly people: readonly { readonly name: string; readonly url?: string; readonly role: Role }[];
};

/** Reads a package's `package.json`. An unreadable file gives no people and no URL. */
export async function readPackageFacts({ name, folder }: InstalledPackage): Promise<PackageFacts> {
  const data = toRecord(await readOptionalJson(join(folder, "package.json")));
  const url = parseWebUrl(data.homepage) ?? parseWebUrl(toRecord(data.repository).url ?? data.repository);
  const parsePeople = (role: Role, value: unknown) =>
    [value].flat().flatMap((entry) => {
      const person = parsePerson(entry);
      return person ? [{ ...person, role }] : [];
    });
  return {
    name,
    ...(url && { url }),
    people: [
      ...parsePeople("author", data.author),
      ...parsePeople("maintainer", data.maintainers),
      ...parsePeople("contributor", data.contributors),
    ],
  };
}

/** Merges people by name, with all their packages. */
export function collectPeople(packages: readonly PackageFacts[]): readonly Person[] {
  const byName = new Map<string, Person>();
  for (const { name: packageName, people } of packages) {
    for (const { name, url, role } of people) {
      const key = name.toLowerCase();
      const known = byName.get(key) ?? { name, packages: [] };
      const address = known.url ?? url;
      byName.set(key, {
        name: known.name,
        ...(address !== undefined && { url: address }),
        packages: known.packages.some((entry) => entry.name === packageName)
          ? known.packages
          : [...known.packages, { name: packageName, role }],
      });
    }
  }
  return [...byName.values()];
}

/** `Ada <ada@example.com> (https://ada.example)`, or an object with these fields. */
function parsePerson(entry: unknown): { readonly name: string; readonly url?: string } | undefined {
  const { name, url } =
    typeof entry === "string"
      ? { name: entry.replace(/<[^>]*>|\([^)]*\)/g, ""), url: /\(([^)]*)\)/.exec(entry)?.[1] }
      : toRecord(entry);
  if (typeof name !== "string" || name.trim() === "" || name.length > 120) return undefined;
  const address = parseWebUrl(url);
  return { name: name.replace(/\s+/g, " ").trim(), ...(address && { url: address }) };
}

function parseWebUrl(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const address = value.replace(/^git\+/, "").replace(/\.git$/, "");
  return /^https?:\/\/\S+$/.test(address) ? address : undefined;
}

function toRecord(value: unknown): { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

async function readOptionalJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined; // not a package, or a broken one
  }
}
