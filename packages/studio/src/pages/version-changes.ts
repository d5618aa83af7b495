import type { AgentVersionInfo } from "capstan/client";
import { diffLines } from "capstan/sessions";

type Definition = NonNullable<AgentVersionInfo["definition"]>;

/** What differs between two versions of an agent. */
export type VersionChanges = {
  /** The instructions in unified format, if they differ. */
  readonly instructions?: string;
  readonly addedTools: readonly string[];
  readonly removedTools: readonly string[];
  readonly changedTools: readonly {
    readonly name: string;
    readonly before: object;
    readonly after: object;
  }[];
  /** The other fields of both: models, handoffs, settings, policy, output. */
  readonly before: object;
  readonly after: object;
  readonly hasOtherChanges: boolean;
};

/** Compares two definitions of an agent. */
export function compareVersions(before: Definition, after: Definition): VersionChanges {
  const { instructions: oldText, tools: oldTools, ...oldRest } = before;
  const { instructions: newText, tools: newTools, ...newRest } = after;
  const oldByName = new Map(oldTools.map((tool) => [tool.name, tool]));
  const newByName = new Map(newTools.map((tool) => [tool.name, tool]));
  return {
    ...(oldText !== newText && { instructions: formatUnifiedDiff(oldText, newText) }),
    addedTools: newTools.filter(({ name }) => !oldByName.has(name)).map(({ name }) => name),
    removedTools: oldTools.filter(({ name }) => !newByName.has(name)).map(({ name }) => name),
    changedTools: newTools.flatMap((tool) => {
      const old = oldByName.get(tool.name);
      return old && !isEqual(old, tool) ? [{ name: tool.name, before: old, after: tool }] : [];
    }),
    before: oldRest,
    after: newRest,
    hasOtherChanges: !isEqual(oldRest, newRest),
  };
}

/** Both come from the server, which writes their fields in one order. */
const isEqual = (left: object, right: object): boolean => JSON.stringify(left) === JSON.stringify(right);

/** Instructions are short: all unchanged lines are kept as context. */
function formatUnifiedDiff(before: string, after: string): string {
  const [oldLines, newLines] = [before.split("\n"), after.split("\n")];
  const signs = { same: " ", left: "-", right: "+" } as const;
  const lines = diffLines(oldLines, newLines).map(({ type, line }) => `${signs[type]}${line}`);
  return [`@@ -1,${oldLines.length} +1,${newLines.length} @@`, ...lines, ""].join("\n");
}
