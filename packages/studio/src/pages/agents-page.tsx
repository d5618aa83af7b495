import type { AboutAgent, AgentInfo, AgentParts } from "capstan/client";
import { Plus } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { useAbout } from "../data/about.ts";
import { client } from "../data/client.ts";
import { useRequest } from "../data/use-request.ts";
import { runWithToast, showToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { EmptyState, ErrorMessage, Loading } from "../ui/state.tsx";
import { AgentDetails } from "./agent-details.tsx";
import { AgentForm } from "./agent-form.tsx";
import { AgentRow, type AgentTask } from "./agent-row.tsx";
import { AgentVersions } from "./agent-versions.tsx";
import { FormDialog } from "./form-dialog.tsx";
import { ImportButton, importAgent } from "./import-button.tsx";
import { Page, Section } from "./page.tsx";

type OpenDialog = { readonly task: AgentTask | "make"; readonly agent?: AgentInfo };

/** Lists the agents in code and the stored agents. */
export function AgentsPage(): ReactNode {
  const { about, refresh } = useAbout();
  const [open, setOpen] = useState<OpenDialog>();
  const { value, error, retry } = useRequest("agents", async () => ({
    agents: await client.agents.list(),
    parts: await client.agentParts(),
  }));
  useEffect(() => void refresh(), [refresh]);
  const refreshAll = () => {
    retry();
    void refresh();
  };
  return (
    <Page
      title="Agents"
      about="Agents defined in the server's code and agents created here."
      actions={
        about?.isAdmin && (
          <>
            <AgentImport onDone={refreshAll} />
            <Button kind="main" onClick={() => setOpen({ task: "make" })}>
              <Plus size={15} aria-hidden="true" />
              New agent
            </Button>
          </>
        )
      }
    >
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      {!value && error === undefined && <Loading label="Loading agents" />}
      {value && (
        <Agents
          agents={addDescriptions(value.agents, about?.agents ?? [])}
          isAdmin={about?.isAdmin === true}
          onTask={(task, agent) => setOpen({ task, agent })}
        />
      )}
      {value && open && (
        <AgentDialog
          open={open}
          parts={value.parts}
          agents={value.agents}
          onChanged={refreshAll}
          onClose={() => setOpen(undefined)}
        />
      )}
    </Page>
  );
}

/** Adds the profile descriptions of agents in code. */
function addDescriptions(
  agents: readonly AgentInfo[],
  profiles: readonly AboutAgent[],
): readonly AgentInfo[] {
  return agents.map((agent) => {
    const description = profiles.find(({ name }) => name === agent.name)?.description;
    return description === undefined ? agent : { ...agent, description };
  });
}

type AgentsProps = {
  readonly agents: readonly AgentInfo[];
  readonly isAdmin: boolean;
  readonly onTask: (task: AgentTask, agent: AgentInfo) => void;
};

function Agents({ agents, isAdmin, onTask }: AgentsProps): ReactNode {
  const dataAgents = agents.filter(({ source }) => source === "data");
  const storedAgents = agents.filter(({ source }) => source !== "coded" && source !== "data");
  const renderList = (listed: readonly AgentInfo[]) => (
    <ul className="divide-y rounded-lg border bg-raised">
      {listed.map((agent) => (
        <AgentRow key={agent.name} agent={agent} isAdmin={isAdmin} onTask={(task) => onTask(task, agent)} />
      ))}
    </ul>
  );
  return (
    <>
      <Section title="Created here">
        {storedAgents.length > 0 ? (
          renderList(storedAgents)
        ) : (
          <div className="rounded-lg border border-dashed">
            <EmptyState title="No agents yet">
              An agent has a name, a prompt, a model and the tools it may use. It is data, not code, and every
              change creates a version that you can restore.
            </EmptyState>
          </div>
        )}
      </Section>
      {dataAgents.length > 0 && (
        <Section title="On own data" about="Apps that were opened on files, folders or databases.">
          {renderList(dataAgents)}
        </Section>
      )}
      <Section title="Defined in code" about="Change these in the server's code.">
        {renderList(agents.filter(({ source }) => source === "coded"))}
      </Section>
    </>
  );
}

/** Imports an agent from a file. */
function AgentImport({ onDone }: { readonly onDone: () => void }): ReactNode {
  async function importText(text: string): Promise<void> {
    const { name, version } = await importAgent(text);
    showToast(`Imported ${name} as version ${version}.`);
    onDone();
  }
  return <ImportButton label="Agent exported as JSON" onText={importText} />;
}

type AgentDialogProps = {
  readonly open: OpenDialog;
  readonly parts: AgentParts;
  readonly agents: readonly AgentInfo[];
  readonly onChanged: () => void;
  readonly onClose: () => void;
};

function AgentDialog({ open, parts, agents, onChanged, onClose }: AgentDialogProps): ReactNode {
  const { task, agent } = open;
  const name = escapeBidi(agent?.name ?? "");
  const onSaved = () => {
    onChanged();
    onClose();
  };
  if (task === "remove")
    return (
      <Dialog
        title="Remove this agent?"
        description={`“${name}” and all its versions will be deleted. Its sessions are kept.`}
        isOpen
        onClose={onClose}
      >
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="danger"
            onClick={() =>
              runWithToast(async () => {
                if (agent) await client.agents.remove(agent.name, agent.version ?? 1);
                onSaved();
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
        {({ close, onDirtyChange }) => (
          <AgentForm
            {...(agent && { agent })}
            parts={parts}
            others={agents}
            onSaved={onSaved}
            onClose={close}
            onDirtyChange={onDirtyChange}
          />
        )}
      </FormDialog>
    );
  return (
    <Dialog title={titles[task]} isOpen onClose={onClose} placement="side">
      {task === "look" && agent && <AgentDetails agent={agent} />}
      {task === "versions" && agent && (
        <AgentVersions agent={agent} canRestore={agent.data !== undefined} onSaved={onSaved} />
      )}
    </Dialog>
  );
}
