import type { AgentData } from "capstan/agents";
import type { AgentInfo } from "capstan/client";
import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { Changes } from "./tool-change.tsx";

type AgentConflictProps = {
  readonly theirs: AgentInfo;
  readonly mine: AgentData;
  readonly onTheirs: () => void;
  readonly onMine: () => void;
};

/** Somebody else has saved the agent in the meantime: what differs, and the two ways on. */
export function AgentConflict({ theirs, mine, onTheirs, onMine }: AgentConflictProps): ReactNode {
  return (
    <div role="alert" className="rounded-md border border-warn/40 bg-warn-soft px-4 py-3 text-sm">
      <p className="font-medium text-warn">
        Somebody else has saved version {theirs.version} in the meantime
      </p>
      <p className="mt-1">Nothing of yours is stored yet, and nothing is lost. This is theirs and yours:</p>
      <Changes before={theirs.data} after={mine} labels={["Theirs", "Yours"]} />
      <div className="mt-3 flex flex-wrap gap-2">
        <Button size="small" onClick={onTheirs}>
          Go on from theirs
        </Button>
        <Button size="small" onClick={onMine}>
          Save mine as the next version
        </Button>
      </div>
    </div>
  );
}
