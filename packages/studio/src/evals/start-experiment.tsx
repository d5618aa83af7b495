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
  { value: "simulated", label: "Simulated: answer “Done.” and do nothing" },
  { value: "recorded", label: "Recorded: answer as in the run that a case was saved from" },
  { value: "real", label: "Real: execute them; calls that need approval are denied" },
] as const;

/** Starts an experiment and opens it. */
export function StartExperiment({ dataset, isOpen, onClose }: StartExperimentProps): ReactNode {
  return (
    <Dialog title="Run experiment" isOpen={isOpen} onClose={onClose}>
      <StartForm dataset={dataset} onClose={onClose} />
    </Dialog>
  );
}

type StartFormProps = { readonly dataset: string | undefined; readonly onClose: () => void };

function StartForm({ dataset: preselected, onClose }: StartFormProps): ReactNode {
  const [, navigate] = useLocation();
  const datasets = useRequest("datasets", () => evalsClient.datasets.list());
  const agents = useRequest("agents", () => client.agents.list());
  const [dataset, setDataset] = useState(preselected);
  const [agent, setAgent] = useState<string>();
  const [chosen, setChosen] = useState<readonly string[]>(["contains", "callSequence", "forbiddenEffects"]);
  const [judge, setJudge] = useState({ rubric: "", model: "" });
  const [attempts, setAttempts] = useState("1");
  const [tools, setTools] = useState<(typeof toolChoices)[number]["value"]>("simulated");
  const [problem, setProblem] = useState<string>();
  const chosenAgent = agent ?? agents.value?.find((one) => one.problem === undefined)?.name;
  const chosenDataset = dataset ?? datasets.value?.[0]?.name;

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
    if (chosenAgent === undefined || chosenDataset === undefined) return;
    const scorers = chosen.map(
      (name) => (name === "judge" ? { type: "judge", ...judge } : name) as ScorerData,
    );
    void start({
      dataset: chosenDataset,
      agent: chosenAgent,
      scorers,
      attempts: Number(attempts),
      tools: { "*": tools },
    });
  }
  return (
    <form className="grid gap-4" onSubmit={onSubmit}>
      <ChoiceField
        label="Dataset"
        value={chosenDataset ?? ""}
        choices={(datasets.value ?? []).map(({ name }) => ({ value: name, label: name }))}
        onValue={setDataset}
      />
      <ChoiceField
        label="Agent"
        value={chosenAgent ?? ""}
        choices={(agents.value ?? [])
          .filter((one) => one.problem === undefined)
          .map(({ name }) => ({ value: name, label: name }))}
        onValue={setAgent}
      />
      <CheckField label="Scorers" chosen={chosen} choices={scorerChoices} onChosen={setChosen} emptyText="" />
      {chosen.includes("judge") && <JudgeFields judge={judge} onJudge={setJudge} />}
      <ChoiceField label="Tools" value={tools} choices={toolChoices} onValue={setTools} />
      <TextField
        label="Attempts at each case"
        inputMode="numeric"
        value={attempts}
        hint="It takes about four on each side to tell whether a single case changed."
        onValue={setAttempts}
      />
      {problem !== undefined && <ErrorMessage message={problem} />}
      <FormActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="main"
          type="submit"
          disabled={chosen.length === 0 || chosenAgent === undefined || chosenDataset === undefined}
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
