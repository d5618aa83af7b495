import type { NewExperiment } from "capstan/client/evals";
import type { ScorerData } from "capstan/evals";
import { type FormEvent, type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { client } from "../data/client.ts";
import { evalsClient } from "../data/evals-client.ts";
import { useRequest } from "../data/use-request.ts";
import { CheckField, ChoiceField, TextField } from "../pages/agent-fields.tsx";
import { FormActions } from "../pages/form-actions.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorMessage } from "../ui/state.tsx";
import { chooseDefaults, describeMissingRecordings, describeOtherAgents } from "./experiment-defaults.ts";

type StartExperimentProps = {
  /** Preselected. */
  readonly dataset?: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
};

const scorerChoices = [
  { name: "contains", description: "The answer contains the expected text, or each part of a list" },
  { name: "exact", description: "The answer is the expected one" },
  { name: "callSequence", description: "The expected calls, in order" },
  { name: "forbiddenEffects", description: "No forbidden tool was executed" },
  { name: "supportedCitations", description: "Cited passages contain what the answer says" },
  { name: "judge", description: "A model rates the answer by a rubric" },
] as const;

const toolChoices = [
  { value: "recorded", label: "Recorded: answer as in the run that a case was saved from" },
  { value: "simulated", label: "Simulated: answer “Done.” and do nothing" },
  { value: "real", label: "Real: execute them; calls that need approval are denied" },
] as const;

type ToolChoice = (typeof toolChoices)[number]["value"];

const toChoice = (name: string) => ({ value: name, label: name });

/** Starts an experiment and opens it. */
export function StartExperiment({ dataset, isOpen, onClose }: StartExperimentProps): ReactNode {
  return (
    <Dialog title="Run experiment" isOpen={isOpen} onClose={onClose}>
      <StartForm dataset={dataset} onClose={onClose} />
    </Dialog>
  );
}

type StartFormProps = { readonly dataset: string | undefined; readonly onClose: () => void };

/** The dataset, the agent and the tools: what the user has chosen, else what fits the cases. */
function useChoices(preselected: string | undefined) {
  const datasets = useRequest("datasets", () => evalsClient.datasets.list());
  const agents = useRequest("agents", () => client.agents.list());
  const [chosen, choose] = useState<{ dataset?: string; agent?: string; tools?: ToolChoice }>({});
  const dataset = chosen.dataset ?? preselected ?? datasets.value?.[0]?.name;
  const details = useRequest(dataset, () => evalsClient.datasets.get(dataset ?? ""));
  // The dataset that was chosen before stays until the next one is loaded.
  const cases = details.value?.dataset.name === dataset ? details.value?.cases : undefined;
  const agentNames = agents.value?.filter((one) => one.problem === undefined).map(({ name }) => name);
  const defaults = chooseDefaults(cases ?? [], agentNames ?? []);
  return {
    ...{ dataset, agent: chosen.agent ?? defaults.agent, tools: chosen.tools ?? defaults.tools },
    ...{
      cases: cases ?? [],
      agentNames: agentNames ?? [],
      datasetNames: datasets.value?.map(({ name }) => name) ?? [],
    },
    isLoaded: cases !== undefined && agentNames !== undefined,
    error: datasets.error ?? agents.error ?? details.error,
    problem: [
      datasets.value?.length === 0 && "Create a dataset first.",
      cases?.length === 0 && "This dataset has no cases.",
      agentNames?.length === 0 && "There is no agent to run.",
    ].find((reason) => reason),
    choose: (choice: typeof chosen) => choose({ ...chosen, ...choice }),
  };
}

function StartForm({ dataset: preselected, onClose }: StartFormProps): ReactNode {
  const [, navigate] = useLocation();
  const { dataset, agent, tools, cases, choose, ...choices } = useChoices(preselected);
  const [chosen, setChosen] = useState<readonly string[]>(["contains", "callSequence", "forbiddenEffects"]);
  const [judge, setJudge] = useState({ rubric: "", model: "" });
  const [attempts, setAttempts] = useState("1");
  const [problem, setProblem] = useState<string>();

  async function start(request: NewExperiment): Promise<void> {
    try {
      const { id } = await evalsClient.experiments.start(request);
      navigate(`/experiments/${encodeURIComponent(id)}`);
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }
  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (agent === undefined || dataset === undefined) return;
    const scorers = chosen.map(
      (name) => (name === "judge" ? { type: "judge", ...judge } : name) as ScorerData,
    );
    void start({ dataset, agent, scorers, attempts: Number(attempts), tools: { "*": tools } });
  }
  return (
    <form className="grid gap-4" onSubmit={onSubmit}>
      <ChoiceField
        label="Dataset"
        value={dataset ?? ""}
        choices={choices.datasetNames.map(toChoice)}
        onValue={(name) => choose({ dataset: name })}
      />
      <ChoiceField
        label="Agent"
        value={agent ?? ""}
        choices={choices.agentNames.map(toChoice)}
        hint={describeOtherAgents(cases, agent)}
        onValue={(name) => choose({ agent: name })}
      />
      <CheckField label="Scorers" chosen={chosen} choices={scorerChoices} onChosen={setChosen} emptyText="" />
      {chosen.includes("judge") && <JudgeFields judge={judge} onJudge={setJudge} />}
      <ChoiceField
        label="Tools"
        value={tools}
        choices={toolChoices}
        hint={describeMissingRecordings(cases, tools)}
        onValue={(mode) => choose({ tools: mode })}
      />
      <TextField
        label="Attempts at each case"
        inputMode="numeric"
        value={attempts}
        hint="It takes about four on each side to tell whether a single case changed."
        onValue={setAttempts}
      />
      {(problem ?? choices.error) !== undefined && <ErrorMessage message={problem ?? choices.error ?? ""} />}
      <FormActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="main"
          type="submit"
          disabled={!choices.isLoaded}
          blockedBy={choices.problem ?? (chosen.length === 0 && "Choose a scorer.")}
        >
          Start
        </Button>
      </FormActions>
    </form>
  );
}

type Judge = { readonly rubric: string; readonly model: string };
type JudgeFieldsProps = { readonly judge: Judge; readonly onJudge: (judge: Judge) => void };

function JudgeFields({ judge, onJudge }: JudgeFieldsProps): ReactNode {
  return (
    <>
      <TextField
        label="Rubric"
        rows={2}
        value={judge.rubric}
        hint="What a good answer is, in plain language."
        onValue={(rubric) => onJudge({ ...judge, rubric })}
      />
      <TextField
        label="Model of the judge"
        value={judge.model}
        placeholder="openai/gpt-5-mini"
        onValue={(model) => onJudge({ ...judge, model })}
      />
    </>
  );
}
