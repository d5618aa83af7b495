import { join, sep } from "node:path";
import { refused, shown } from "./file-failure.ts";
import { isWithin } from "./file-path.ts";
import type { Root } from "./root.ts";

// What tells programs what to run, or who somebody is: not for a model to read or to write, wherever it lies.
const names = new Set([
  ...[".git", ".hg", ".svn", ".gitconfig", ".git-credentials", ".netrc", "_netrc", ".npmrc", ".pypirc"],
  ...[".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store"],
  ...[".profile", ".login", ".logout", ".inputrc", ".xinitrc", ".xprofile", ".xsession", ".pam_environment"],
  ...[".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".bash_history"],
  ...[".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".zsh_history"],
  ...[".cshrc", ".tcshrc", ".kshrc", ".mkshrc", "config.fish", ".node_repl_history"],
]);
/** `.capstan-` begins the names of files that are being written. */
const beginnings = [".env", ".capstan-"];
const pairs = [["node_modules", ".bin"]] as const;

/** Whether these names lead from the root to something protected, by the list or by what the root protects itself. */
function isProtected(root: Root, path: readonly string[]): boolean {
  return isOnList(path) || isProtectedPath(root, join(root.path, ...path));
}

/** Whether one of these names, in this order, is protected wherever it is. */
export function isOnList(path: readonly string[]): boolean {
  const way = path.map(folded);
  return way.some(
    (name, index) =>
      names.has(name) ||
      beginnings.some((beginning) => name.startsWith(beginning)) ||
      pairs.some(([above, below]) => name === below && way[index - 1] === above),
  );
}

/**
 * One form for names that some disk takes for the same: without regard to case, to the way accents are written, and to
 * characters that are not seen (".g\u200cit" is ".git" on HFS+).
 */
export function folded(name: string): string {
  const seen = name.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  return seen.toUpperCase().toLowerCase().normalize("NFC");
}

/** Whether a real path is one that the root protects itself, or lies below. */
export function isProtectedPath({ protect }: Root, path: string): boolean {
  return protect.some((protectedPath) => isWithin(folded(path), folded(protectedPath), sep));
}

/** Throws `security` for what is protected. */
export function refuseProtected(root: Root, path: readonly string[]): void {
  if (isProtected(root, path)) throw refused(`${shown(path)} is protected: tools do not read or write it.`);
}
