import { type FormEvent, type ReactNode, useState } from "react";
import { useAbout } from "../data/about.ts";
import { schedulesClient } from "../data/schedules-client.ts";
import { ChoiceField, TextField } from "../pages/agent-fields.tsx";
import { FormActions } from "../pages/form-actions.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorMessage } from "../ui/state.tsx";

type NewScheduleProps = {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onAdded: () => void;
};

/** A form for a schedule. */
export function NewScheduleDialog({ isOpen, onClose, onAdded }: NewScheduleProps): ReactNode {
  return (
    <Dialog title="New schedule" isOpen={isOpen} onClose={onClose}>
      <ScheduleForm
        onClose={onClose}
        onAdded={() => {
          onAdded();
          onClose();
        }}
      />
    </Dialog>
  );
}

const missedChoices = [
  { value: "run-once", label: "Start one run late" },
  { value: "skip", label: "Skip it" },
] as const;

function ScheduleForm({ onClose, onAdded }: Omit<NewScheduleProps, "isOpen">): ReactNode {
  const agents = useAbout(({ about }) => about?.agents ?? []);
  const [agent, setAgent] = useState<string>();
  const [input, setInput] = useState("");
  const [when, setWhen] = useState("");
  const [missed, setMissed] = useState<(typeof missedChoices)[number]["value"]>("run-once");
  const [problem, setProblem] = useState<string>();
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

  async function add(): Promise<void> {
    const chosen = agent ?? agents[0]?.name;
    try {
      await schedulesClient.add({
        input,
        when,
        missed,
        timeZone,
        ...(chosen !== undefined && { agent: chosen }),
      });
      onAdded();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }
  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    void add();
  }
  return (
    <form className="grid gap-4" onSubmit={onSubmit}>
      <TextField
        label="Message"
        value={input}
        hint="What the agent gets, as if you sent it then."
        onValue={setInput}
      />
      <TextField
        label="When"
        value={when}
        hint={`“tomorrow at 9”, “in 20 minutes”, “every weekday at 8:15”, “every 2 hours”, a date, or a cron expression. Time zone: ${timeZone}.`}
        onValue={setWhen}
      />
      {agents.length > 1 && (
        <ChoiceField
          label="Agent"
          value={agent ?? agents[0]?.name ?? ""}
          choices={agents.map(({ name, title }) => ({ value: name, label: title ?? name }))}
          onValue={setAgent}
        />
      )}
      <ChoiceField
        label="If no server is running at a time"
        value={missed}
        choices={missedChoices}
        onValue={setMissed}
      />
      {problem !== undefined && <ErrorMessage message={problem} />}
      <FormActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="main"
          type="submit"
          blockedBy={(input.trim() === "" || when.trim() === "") && "Enter a task and a time."}
        >
          Add
        </Button>
      </FormActions>
    </form>
  );
}
