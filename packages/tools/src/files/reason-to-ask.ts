import { AgentError } from "capstan";
import { shown } from "./file-failure.ts";
import { refuseProtected } from "./protected-names.ts";
import type { Root } from "./root.ts";
import { wayTo } from "./workspace.ts";

/** Why a person is asked; false for a path that the call is refused for anyway, so that nobody is asked in vain. */
export function reasonToAsk(does: string, path: string, root: Root): string | false {
  try {
    const { folder, name } = wayTo(path, root);
    const names = [...folder, name];
    refuseProtected(root, names);
    return `${does} the file ${shown(names)}.`;
  } catch (error) {
    if (error instanceof AgentError) return false;
    throw error;
  }
}
