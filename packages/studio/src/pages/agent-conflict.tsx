import type { AgentData } from "capstan/agents";
import type { AgentInfo } from "capstan/client";
import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { FieldChanges } from "./tool-change.tsx";

type AgentConflictProps = {
  readonly theirs: AgentInfo;
  readonly mine: AgentData;
  readonly onTheirs: () => void;
  readonly onMine: () => void;
};

/** Shown when another version was saved meanwhile: the differences and both options. */
export function AgentConflict({ theirs, mine, onTheirs, onMine }: AgentConflictProps): ReactNode {
  return (
    <div role="alert" className="rounded-md border border-warn/40 bg-warn-soft px-4 py-3 text-sm">
      <p className="font-medium text-warn">Version {theirs.version} was saved while you were editing</p>
      <p className="mt-1">Your changes are not saved yet. Compare both versions:</p>
      <FieldChanges before={theirs.data} after={mine} labels={["Theirs", "Yours"]} />
      <div className="mt-3 flex flex-wrap gap-2">
        <Button size="small" onClick={onTheirs}>
          Use their version
        </Button>
        <Button size="small" onClick={onMine}>
          Save mine as a new version
        </Button>
      </div>
    </div>
  );
}
