import { FlaskConical } from "lucide-react";
import { type ReactNode, useState } from "react";
import { evalsClient } from "../data/evals-client.ts";
import { useRequest } from "../data/use-request.ts";
import { Page } from "../pages/page.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState, ErrorMessage, Loading } from "../ui/state.tsx";
import { ExperimentList } from "./experiment-list.tsx";
import { StartExperiment } from "./start-experiment.tsx";

/** Lists the experiments. */
export function ExperimentsPage(): ReactNode {
  const { value, error, retry } = useRequest("experiments", () => evalsClient.experiments.list());
  const [isStarting, setStarting] = useState(false);
  const startButton = (
    <Button kind="main" onClick={() => setStarting(true)}>
      <FlaskConical size={15} aria-hidden="true" />
      Run experiment
    </Button>
  );
  return (
    <Page
      title="Experiments"
      about="Datasets, run against a version of an agent and scored. Open one to compare it with another."
      actions={value !== undefined && value.length > 0 && startButton}
    >
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      {!value && error === undefined && <Loading label="Loading experiments" />}
      {value?.length === 0 && (
        <EmptyState title="No experiments yet" action={startButton}>
          Run a dataset against an agent here, or <code>capstan eval</code> in a terminal.
        </EmptyState>
      )}
      {value !== undefined && value.length > 0 && <ExperimentList experiments={value} />}
      <StartExperiment isOpen={isStarting} onClose={() => setStarting(false)} />
    </Page>
  );
}
