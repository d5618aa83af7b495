import type { AboutAgent, AgentInfo, AgentParts } from "capstan/client";
import { Plus } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { useAbout } from "../data/about.ts";
import { client } from "../data/client.ts";
import { useAnswer } from "../data/use-request.ts";
import { steadyText } from "../markdown/visible-text.ts";
import { attempt, toast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Failure, Loading, Nothing } from "../ui/state.tsx";
import { AgentDetails, AgentVersions } from "./agent-details.tsx";
import { AgentForm } from "./agent-form.tsx";
import { AgentRow, type AgentTask } from "./agent-row.tsx";
import { FormDialog } from "./form-dialog.tsx";
import { ImportButton, importAgent } from "./import-button.tsx";
import { Page, Section } from "./page.tsx";

type Open = { readonly task: AgentTask | "make"; readonly agent?: AgentInfo };

/** The agents in code, and those that people make. */
export function AgentsPage(): ReactNode {
  const { about, refresh } = useAbout();
  const [open, setOpen] = useState<Open>();
  const { value, error, again } = useAnswer("agents", async () => ({
    agents: await client.agents.list(),
    parts: await client.agentParts(),
  }));
  useEffect(() => void refresh(), [refresh]);
  const changed = () => {
    again();
    void refresh();
  };
  return (
    <Page
      title="Agents"
      about="Whom you can ask: agents in the code of the server, and those that people make here."
      actions={
        about?.isAdmin && (
          <>
            <AgentImport onDone={changed} />
            <Button kind="main" onClick={() => setOpen({ task: "make" })}>
              <Plus size={15} aria-hidden="true" />
              New agent
            </Button>
          </>
        )
      }
    >
      {error !== undefined && <Failure message={error} onRetry={again} />}
      {!value && error === undefined && <Loading label="Loading agents" />}
      {value && (
        <Agents
          agents={introduced(value.agents, about?.agents ?? [])}
          isAdmin={about?.isAdmin === true}
          onTask={(task, agent) => setOpen({ task, agent })}
        />
      )}
      {value && open && (
        <AgentDialog
          open={open}
          parts={value.parts}
          agents={value.agents}
          onChanged={changed}
          onClose={() => setOpen(undefined)}
        />
      )}
    </Page>
  );
}

/** With what is said of those in code, which have no words of their own. */
function introduced(agents: readonly AgentInfo[], told: readonly AboutAgent[]): readonly AgentInfo[] {
  return agents.map((agent) => {
    const description = told.find(({ name }) => name === agent.name)?.description;
    return description === undefined ? agent : { ...agent, description };
  });
}

type AgentsProps = {
  readonly agents: readonly AgentInfo[];
  readonly isAdmin: boolean;
  readonly onTask: (task: AgentTask, agent: AgentInfo) => void;
};

function Agents({ agents, isAdmin, onTask }: AgentsProps): ReactNode {
  const stored = agents.filter(({ source }) => source !== "coded");
  const list = (some: readonly AgentInfo[]) => (
    <ul className="divide-y rounded-lg border bg-raised">
      {some.map((agent) => (
        <AgentRow key={agent.name} agent={agent} isAdmin={isAdmin} onTask={(task) => onTask(task, agent)} />
      ))}
    </ul>
  );
  return (
    <>
      <Section title="Made here">
        {stored.length > 0 ? (
          list(stored)
        ) : (
          <div className="rounded-lg border border-dashed">
            <Nothing title="None yet">
              An agent is a name, a prompt, a model and the tools it may use. It is data, never code, and each
              change is a version that can be gone back to.
            </Nothing>
          </div>
        )}
      </Section>
      <Section title="In code" about="These change with the program.">
        {list(agents.filter(({ source }) => source === "coded"))}
      </Section>
    </>
  );
}

/** Takes an agent from a file, and says so. */
function AgentImport({ onDone }: { readonly onDone: () => void }): ReactNode {
  async function take(text: string): Promise<void> {
    const { name, version } = await importAgent(text);
    toast(`${name} is here, as version ${version}.`);
    onDone();
  }
  return <ImportButton label="An agent that was exported as JSON" onText={take} />;
}

type AgentDialogProps = {
  readonly open: Open;
  readonly parts: AgentParts;
  readonly agents: readonly AgentInfo[];
  readonly onChanged: () => void;
  readonly onClose: () => void;
};

function AgentDialog({ open, parts, agents, onChanged, onClose }: AgentDialogProps): ReactNode {
  const { task, agent } = open;
  const name = steadyText(agent?.name ?? "");
  const saved = () => {
    onChanged();
    onClose();
  };
  if (task === "remove")
    return (
      <Dialog
        title="Remove this agent?"
        description={`“${name}” and all its versions will be gone. Sessions with it stay.`}
        isOpen
        onClose={onClose}
      >
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Keep it</Button>
          <Button
            kind="danger"
            onClick={() =>
              attempt(async () => {
                if (agent) await client.agents.remove(agent.name, agent.version ?? 1);
                saved();
              })
            }
          >
            Remove
          </Button>
        </div>
      </Dialog>
    );
  const titles = { make: "New agent", edit: `Edit ${name}`, look: name, versions: `Versions of ${name}` };
  if (task === "make" || task === "edit")
    return (
      <FormDialog title={titles[task]} onClose={onClose}>
        {({ close, onTyped }) => (
          <AgentForm
            {...(agent && { agent })}
            parts={parts}
            others={agents}
            onSaved={saved}
            onClose={close}
            onTyped={onTyped}
          />
        )}
      </FormDialog>
    );
  return (
    <Dialog title={titles[task]} isOpen onClose={onClose} place="side">
      {task === "look" && agent && <AgentDetails agent={agent} />}
      {task === "versions" && agent && <AgentVersions agent={agent} onSaved={saved} />}
    </Dialog>
  );
}
