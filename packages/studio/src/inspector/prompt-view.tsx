import type { Fact } from "capstan";
import type { ExactRequest, SentTurn } from "capstan/client";
import { parseRequestBody } from "capstan/sessions";
import { type ReactNode, useState } from "react";
import { useAbout } from "../data/about.ts";
import { client } from "../data/client.ts";
import { useRequest } from "../data/use-request.ts";
import { Button } from "../ui/button.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { ExactRequestView } from "./exact-request.tsx";
import { SentPrompt } from "./sent-prompt.tsx";
import { TryTurn } from "./try-turn.tsx";

type PromptViewProps = {
  readonly runId: string;
  /** The request, rebuilt from the log. */
  readonly rebuilt: SentTurn;
  /** The answer. */
  readonly message: Extract<Fact, { type: "message" }> | undefined;
  /** False while the turn waits for its answer. */
  readonly isStored: boolean;
  readonly warnings: readonly string[];
};

/** The request of a turn: an overview of its parts, or exactly as it was sent. */
export function PromptView({ runId, rebuilt, message, isStored, warnings }: PromptViewProps): ReactNode {
  const { turn } = rebuilt;
  const key = isStored ? `${runId} ${turn}` : undefined;
  const [shown, setShown] = useState<Shown>("overview");
  const [isTrying, setTrying] = useState(false);
  const isAdmin = useAbout(({ about }) => about?.isAdmin === true);
  const exact = useRequest(isAdmin ? key : undefined, () => loadExact(runId, turn)).value;
  const requests = exact?.requests;
  const sent = withExactParts(rebuilt, requests);
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        {requests && (
          <SelectField
            label="View of the prompt"
            value={shown}
            choices={views}
            onChange={(view) => setShown(view as Shown)}
          />
        )}
        <Button size="small" onClick={() => setTrying(true)}>
          Try again with changes
        </Button>
      </div>
      {exact && !requests && (
        <p className="mb-3 text-xs text-quiet">
          The exact request is not stored. This one is rebuilt from the log.
        </p>
      )}
      {requests && shown !== "overview" ? (
        <ExactRequestView requests={requests} previous={exact?.previous} isRaw={shown === "raw"} />
      ) : (
        <SentPrompt sent={sent} usage={message?.usage} warnings={warnings} hasInstructions={isAdmin} />
      )}
      {isTrying && <TryTurn runId={runId} sent={sent} message={message} onClose={() => setTrying(false)} />}
    </>
  );
}

type Shown = "overview" | "json" | "raw";

const views: readonly { readonly value: Shown; readonly label: string }[] = [
  { value: "overview", label: "Overview" },
  { value: "json", label: "Exact request" },
  { value: "raw", label: "Exact request, raw" },
];

/** The requests of a turn, if they are stored, and the last one of the turn before. */
type ExactTurn = {
  readonly requests: readonly ExactRequest[] | undefined;
  readonly previous: ExactRequest | undefined;
};

async function loadExact(runId: string, turn: number): Promise<ExactTurn> {
  const load = (of: number) => client.runs.requests(runId, of).catch(() => undefined);
  const requests = await load(turn);
  const before = requests && turn > 1 ? await load(turn - 1) : undefined;
  const previous = before?.findLast(({ purpose }) => purpose === "answer");
  return { requests, previous };
}

/** Replaces what is rebuilt by what was sent. */
function withExactParts(sent: SentTurn, requests: readonly ExactRequest[] | undefined): SentTurn {
  const request = requests?.findLast(({ purpose }) => purpose === "answer");
  if (!request) return sent;
  const { instructions, tools } = parseRequestBody(request.body);
  const notes = sent.notes.filter((note) => note !== "").join("\n\n");
  const own =
    notes !== "" && instructions?.endsWith(notes)
      ? instructions.slice(0, -notes.length).trimEnd()
      : instructions;
  return {
    ...sent,
    ...(own !== undefined && { instructions: own, instructionsAreRebuilt: false }),
    ...(tools && { tools, toolsAreRebuilt: false }),
  };
}
