// What a user trusts with a project's skills: every file of every skill. A skill that changed is no longer trusted, and
// the others are.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Snapshot, TrustedFile } from "./snapshot.ts";

const maxFiles = 500;
const maxBytes = 20_000_000;
/** The texts are stored to show later changes. */
const maxTextLength = 20_000;

/** Takes the snapshots of all skills in a folder, by paths such as `skills/deploy/SKILL.md`. */
export function takeSkillsSnapshot(folder: string): Snapshot {
  const names = readdirSync(folder).sort();
  const parts = names.map(
    (name) => takeSkillSnapshot(folder, name) ?? { [formatPath(folder, name, "")]: { sha256: "too large" } },
  );
  return Object.assign({}, ...parts);
}

/** Returns the entries of a snapshot that belong to one skill. */
export function selectSkill(snapshot: Snapshot, folder: string, name: string): Snapshot {
  const prefix = formatPath(folder, name, "");
  return Object.fromEntries(Object.entries(snapshot).filter(([path]) => path.startsWith(prefix)));
}

const formatPath = (folder: string, name: string, path: string): string =>
  `${basename(folder)}/${name}/${path}`;

/** Takes the snapshot of one skill. Returns undefined for one that is too large to be trusted. */
export function takeSkillSnapshot(folder: string, name: string): Snapshot | undefined {
  const files: { [path: string]: TrustedFile } = {};
  let bytesLeft = maxBytes;
  let filesLeft = maxFiles;
  const visit = (directory: string, path: string): boolean =>
    readdirSync(directory, { withFileTypes: true }).every((entry) => {
      const entryPath = join(directory, entry.name);
      const key = `${path}${entry.name}`;
      if (entry.isDirectory()) return visit(entryPath, `${key}/`);
      if (--filesLeft < 0) return false;
      // Never followed, and neither pipes nor devices are opened.
      if (!entry.isFile()) {
        const target = entry.isSymbolicLink() ? readlinkSync(entryPath) : "no file";
        files[formatPath(folder, name, key)] = { sha256: `link: ${target}` };
        return true;
      }
      bytesLeft -= statSync(entryPath).size;
      if (bytesLeft < 0) return false;
      files[formatPath(folder, name, key)] = readTrustedFile(entryPath);
      return true;
    });
  // A skill may be a link; its folder is what counts.
  const real = realpathSync(join(folder, name));
  if (!statSync(real).isDirectory()) return {};
  return visit(real, "") ? files : undefined;
}

function readTrustedFile(file: string): TrustedFile {
  const bytes = readFileSync(file);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const isText = bytes.length <= maxTextLength && !bytes.includes(0);
  return { sha256, ...(isText && { text: bytes.toString() }) };
}
