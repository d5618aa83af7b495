import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { InstalledPackage } from "./find-documents.ts";

/** A person as the metadata of packages knows them. Addresses of mail are left out: nobody put them there for this. */
export type Person = {
  readonly name: string;
  readonly url?: string;
  readonly packages: readonly { readonly name: string; readonly role: Role }[];
};

type Role = "author" | "maintainer" | "contributor";

/** What a package says about itself. */
export type PackageFacts = {
  readonly name: string;
  readonly url?: string;
  readonly people: readonly { readonly name: string; readonly url?: string; readonly role: Role }[];
};

/** What the `package.json` of a package says; nothing where there is none that can be read. */
export async function packageFacts({ name, folder }: InstalledPackage): Promise<PackageFacts> {
  const data = record(await readJson(join(folder, "package.json")));
  const url = webAddress(data.homepage) ?? webAddress(record(data.repository).url ?? data.repository);
  const listed = (role: Role, value: unknown) =>
    [value].flat().flatMap((entry) => {
      const person = personOf(entry);
      return person ? [{ ...person, role }] : [];
    });
  return {
    name,
    ...(url && { url }),
    people: [
      ...listed("author", data.author),
      ...listed("maintainer", data.maintainers),
      ...listed("contributor", data.contributors),
    ],
  };
}

/** Everybody once, with all their packages. */
export function peopleOf(packages: readonly PackageFacts[]): readonly Person[] {
  const byName = new Map<string, Person>();
  for (const { name: packageName, people } of packages) {
    for (const { name, url, role } of people) {
      const key = name.toLowerCase();
      const known = byName.get(key) ?? { name, packages: [] };
      const address = known.url ?? url;
      byName.set(key, {
        name: known.name,
        ...(address !== undefined && { url: address }),
        packages: known.packages.some((one) => one.name === packageName)
          ? known.packages
          : [...known.packages, { name: packageName, role }],
      });
    }
  }
  return [...byName.values()];
}

/** `Ada <ada@example.com> (https://ada.example)`, or an object with these fields. */
function personOf(entry: unknown): { readonly name: string; readonly url?: string } | undefined {
  const { name, url } =
    typeof entry === "string"
      ? { name: entry.replace(/<[^>]*>|\([^)]*\)/g, ""), url: /\(([^)]*)\)/.exec(entry)?.[1] }
      : record(entry);
  if (typeof name !== "string" || name.trim() === "" || name.length > 120) return undefined;
  const address = webAddress(url);
  return { name: name.replace(/\s+/g, " ").trim(), ...(address && { url: address }) };
}

function webAddress(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const address = value.replace(/^git\+/, "").replace(/\.git$/, "");
  return /^https?:\/\/\S+$/.test(address) ? address : undefined;
}

function record(value: unknown): { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined; // a folder that is no package, or one that is broken: it says nothing about people
  }
}
