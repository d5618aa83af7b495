// What a user trusts with a project's skills: every file of every skill. A skill that changed is no longer trusted, and
// the others are.
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { computeSha256 } from "../sha256.ts";
import type { Snapshot, TrustedFile } from "./snapshot.ts";

/** Further skills, and a skill with more entries, are never trusted: untrusted files must not take long to read. */
const maxSkills = 200;
const maxEntries = 500;
const maxBytes = 20_000_000;
/** The texts are stored to show later changes. */
const maxTextLength = 20_000;

/** Takes the snapshots of the skills in a folder of a project, by paths such as `skills/deploy/SKILL.md`. */
export function takeSkillsSnapshot(folder: string): Snapshot {
  const names = readdirSync(folder)
    .sort()
    .filter((name) => existsSync(join(folder, name, "SKILL.md")));
  const parts = names.slice(0, maxSkills).map((name) => takeSkillSnapshot(folder, name) ?? {});
  return Object.assign({}, ...parts);
}

/** Returns the entries of a snapshot that belong to one skill. */
export function selectSkill(snapshot: Snapshot, folder: string, name: string): Snapshot {
  const prefix = formatPath(folder, name, "");
  return Object.fromEntries(Object.entries(snapshot).filter(([path]) => path.startsWith(prefix)));
}

const formatPath = (folder: string, name: string, path: string): string =>
  `${basename(folder)}/${name}/${path}`;

/** Takes the snapshot of one skill. Returns undefined if it is too large, unreadable or outside the project. */
export function takeSkillSnapshot(folder: string, name: string): Snapshot | undefined {
  const project = realpathSync(dirname(dirname(folder)));
  try {
    // A skill may be a link inside the project; the folder that it leads to counts.
    const real = realpathSync(join(folder, name));
    return real.startsWith(project + sep) ? readFiles(real, formatPath(folder, name, "")) : undefined;
  } catch {
    return undefined; // cannot be read
  }
}

function readFiles(root: string, prefix: string): Snapshot | undefined {
  const files: { [path: string]: TrustedFile } = {};
  let bytesLeft = maxBytes;
  let entriesLeft = maxEntries;
  const visit = (directory: string, path: string): boolean =>
    readdirSync(directory, { withFileTypes: true }).every((entry) => {
      const entryPath = join(directory, entry.name);
      const key = `${path}${entry.name}`;
      if (--entriesLeft < 0) return false;
      if (entry.isDirectory()) return visit(entryPath, `${key}/`);
      // Links are not followed, and neither pipes nor devices are opened.
      if (!entry.isFile()) {
        const target = entry.isSymbolicLink() ? readlinkSync(entryPath) : "";
        files[key] = { sha256: `not a file: ${target}` };
        return true;
      }
      bytesLeft -= statSync(entryPath).size;
      if (bytesLeft < 0) return false;
      files[key] = readTrustedFile(entryPath);
      return true;
    });
  return visit(root, prefix) ? files : undefined;
}

function readTrustedFile(file: string): TrustedFile {
  const bytes = readFileSync(file);
  const sha256 = computeSha256(bytes);
  const isText = bytes.length <= maxTextLength && !bytes.includes(0);
  return { sha256, ...(isText && { text: bytes.toString() }) };
}
