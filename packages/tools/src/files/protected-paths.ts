import { join, sep } from "node:path";
import { createSecurityError, quoteNames } from "./file-errors.ts";
import { isWithin } from "./parse-path.ts";
import type { Root } from "./root.ts";

// Files that control programs or hold credentials: the model must not read or write them, in any folder.
const protectedNames = new Set([
  ...[".git", ".hg", ".svn", ".gitconfig", ".git-credentials", ".netrc", "_netrc", ".npmrc", ".pypirc"],
  ...[".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store"],
  ...[".profile", ".login", ".logout", ".inputrc", ".xinitrc", ".xprofile", ".xsession", ".pam_environment"],
  ...[".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".bash_history"],
  ...[".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".zsh_history"],
  ...[".cshrc", ".tcshrc", ".kshrc", ".mkshrc", "config.fish", ".node_repl_history"],
]);
/** `.capstan-` is the prefix of temporary files. */
const protectedPrefixes = [".env", ".capstan-"];
const protectedPairs = [["node_modules", ".bin"]] as const;

/** Whether the path is protected by name or by the `protect` option of the root. */
function isProtected(root: Root, path: readonly string[]): boolean {
  return hasProtectedName(path) || isProtectedPath(root, join(root.path, ...path));
}

/** Whether the path contains a protected name. */
export function hasProtectedName(path: readonly string[]): boolean {
  const foldedNames = path.map(foldName);
  return foldedNames.some(
    (name, index) =>
      protectedNames.has(name) ||
      protectedPrefixes.some((beginning) => name.startsWith(beginning)) ||
      protectedPairs.some(([above, below]) => name === below && foldedNames[index - 1] === above),
  );
}

/**
 * Folds names that some file system treats as equal: ignores case, Unicode form, and invisible characters
 * (".g\u200cit" is ".git" on HFS+).
 */
export function foldName(name: string): string {
  const visible = name.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  return visible.toUpperCase().toLowerCase().normalize("NFC");
}

/** Whether a real path is listed in `protect` or is below a listed path. */
export function isProtectedPath({ protect }: Root, path: string): boolean {
  return protect.some((protectedPath) => isWithin(foldName(path), foldName(protectedPath), sep));
}

/** Throws `security` if the path is protected. */
export function assertNotProtected(root: Root, path: readonly string[]): void {
  if (isProtected(root, path))
    throw createSecurityError(`${quoteNames(path)} is protected: tools cannot read or write it.`);
}
