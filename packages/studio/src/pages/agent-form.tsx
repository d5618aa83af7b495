import type { AgentInfo, AgentParts } from "capstan/client";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { client } from "../data/client.ts";
import { Button } from "../ui/button.tsx";
import { AgentConflict } from "./agent-conflict.tsx";
import {
  type AgentDraft,
  emptyDraft,
  type FieldProblems,
  parseFieldProblems,
  toAgentData,
  toDraft,
} from "./agent-draft.ts";
import { CheckField, ChoiceField, TextField } from "./agent-fields.tsx";
import { AgentSettings } from "./agent-settings.tsx";
import { FormActions } from "./form-actions.tsx";

type AgentFormProps = {
  /** The agent to edit. Undefined to create one. */
  readonly agent?: AgentInfo;
  readonly parts: AgentParts;
  /** Possible handoff targets. */
  readonly others: readonly { readonly name: string; readonly description?: string }[];
  readonly onSaved: (agent: AgentInfo) => void;
  readonly onClose: () => void;
  /** Called when unsaved changes appear or disappear. */
  readonly onDirtyChange: (isTyped: boolean) => void;
};

type SaveFailure = { readonly problems?: FieldProblems; readonly theirs?: AgentInfo };

/** Creates an agent or its next version. Shows the server's validation problems next to the fields. */
export function AgentForm(props: AgentFormProps): ReactNode {
  const { agent, parts, others, onSaved, onClose, onDirtyChange } = props;
  const [draft, setDraft] = useState(() => createDraft(agent));
  const [base, setBase] = useState(agent);
  const [failure, setFailure] = useState<SaveFailure>({});
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (Object.keys(failure).length > 0)
      form.current?.querySelector('[role="alert"]')?.scrollIntoView({ block: "center" });
  }, [failure]);
  useEffect(
    () => onDirtyChange(JSON.stringify(draft) !== JSON.stringify(createDraft(base))),
    [draft, base, onDirtyChange],
  );
  const updateDraft = (part: Partial<AgentDraft>) => setDraft((before) => ({ ...before, ...part }));

  async function save(latest: AgentInfo | undefined): Promise<void> {
    setBusy(true);
    setFailure({});
    const data = toAgentData(draft, base?.data);
    try {
      onSaved(await client.agents.save(data, latest?.version ?? 0));
    } catch (error) {
      const { code, message } = Object(error) as { readonly code?: string; readonly message: string };
      const theirs =
        code === "position_conflict" ? await client.agents.get(data.name).catch(() => undefined) : undefined;
      setFailure(theirs ? { theirs } : { problems: parseFieldProblems(message) });
    } finally {
      setBusy(false);
    }
  }
  const { problems = {}, theirs } = failure;
  const fields = { draft, updateDraft, problems, parts };
  return (
    <form
      ref={form}
      className="grid gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        void save(base);
      }}
    >
      <IdentityFields {...fields} isNew={agent === undefined} />
      <CapabilityFields {...fields} others={others} />
      <AgentSettings
        {...{ draft, problems, limits: parts.settingsLimits }}
        onChange={(settings) => updateDraft({ settings })}
      />
      <PolicyFields {...fields} />
      {problems[""] !== undefined && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
          {problems[""]}
        </p>
      )}
      {theirs && (
        <AgentConflict
          theirs={theirs}
          mine={toAgentData(draft, base?.data)}
          onTheirs={() => {
            setBase(theirs);
            if (theirs.data) setDraft(createDraft(theirs));
            setFailure({});
          }}
          onMine={() => {
            setBase(theirs);
            void save(theirs);
          }}
        />
      )}
      <FormActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="main"
          type="submit"
          disabled={isBusy}
          blockedBy={draft.name.trim() === "" && "Enter a name."}
        >
          {agent ? "Save new version" : "Create agent"}
        </Button>
      </FormActions>
    </form>
  );
}

const createDraft = (agent: AgentInfo | undefined): AgentDraft =>
  agent?.data ? toDraft(agent.data) : emptyDraft;

type FieldsProps = {
  readonly draft: AgentDraft;
  readonly updateDraft: (part: Partial<AgentDraft>) => void;
  readonly problems: FieldProblems;
  readonly parts: AgentParts;
};

function IdentityFields({
  draft,
  updateDraft,
  problems,
  isNew,
  parts,
}: FieldsProps & { readonly isNew: boolean }): ReactNode {
  const models = useId();
  return (
    <>
      <TextField
        label="Name"
        value={draft.name}
        onValue={(name) => updateDraft({ name })}
        problem={problems.name}
        disabled={!isNew}
        maxLength={128}
        {...(!isNew && {
          hint: "The name cannot be changed. To copy the agent, export it and import it under another name.",
        })}
      />
      <TextField
        label="Description"
        hint="One sentence about its purpose, shown to users and to the model."
        value={draft.description}
        onValue={(description) => updateDraft({ description })}
        problem={problems.description}
      />
      <TextField
        label="Prompt"
        hint="Instructions for the model."
        rows={6}
        value={draft.prompt}
        onValue={(prompt) => updateDraft({ prompt })}
        problem={problems.prompt}
      />
      <TextField
        label="Model"
        hint={
          parts.models
            ? `Default: ${parts.models[0] ?? "none"}. Separate several models with commas; they are tried in order.`
            : "Format: provider/model. Separate several models with commas; they are tried in order."
        }
        list={models}
        value={draft.model}
        onValue={(model) => updateDraft({ model })}
        problem={problems.model}
      />
      <datalist id={models}>
        {parts.models?.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

type CapabilityFieldsProps = FieldsProps & Pick<AgentFormProps, "others">;

function CapabilityFields({ draft, updateDraft, problems, parts, others }: CapabilityFieldsProps): ReactNode {
  return (
    <>
      <CheckField
        label="Tools"
        chosen={draft.tools}
        choices={parts.tools}
        onChosen={(tools) => updateDraft({ tools })}
        emptyText="This server offers no tools for stored agents."
        problem={problems.tools}
      />
      {(parts.sources.length > 0 || draft.sources.length > 0) && (
        <CheckField
          label="Sources"
          hint="Sources that its tools may read."
          chosen={draft.sources}
          choices={parts.sources.map((name) => ({ name }))}
          onChosen={(sources) => updateDraft({ sources })}
          emptyText=""
          problem={problems.sources}
        />
      )}
      <CheckField
        label="Handoffs"
        chosen={draft.handoffs}
        choices={others.filter(({ name }) => name !== draft.name)}
        onChosen={(handoffs) => updateDraft({ handoffs })}
        emptyText="No other agents."
        problem={problems.handoffs}
      />
    </>
  );
}

const strictness = { approvals: ["deny", "ask", "allow"], gate: ["strict", "default", "off"] } as const;
const choiceLabels = {
  deny: "Deny automatically",
  ask: "Ask the user",
  allow: "Allow without asking",
  strict: "Ask after any untrusted content",
  default: "Ask when untrusted content meets private data",
  off: "Never ask",
} as const;

/** Returns the choices that are at least as strict as the server's limit. */
function getChoices<Value extends keyof typeof choiceLabels>(
  all: readonly Value[],
  loosest: Value | undefined,
) {
  const allowed = loosest === undefined ? all : all.slice(0, all.indexOf(loosest) + 1);
  return [
    { value: "" as const, label: "Server default" },
    ...allowed.map((value) => ({ value, label: choiceLabels[value] })),
  ];
}

function PolicyFields({ draft, updateDraft, problems, parts }: FieldsProps): ReactNode {
  const { policyLimits } = parts;
  return (
    <fieldset>
      <legend className="mb-2 text-sm font-semibold">Policy</legend>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Max turns"
          inputMode="numeric"
          placeholder="Server default"
          value={draft.maxTurns}
          onValue={(maxTurns) => updateDraft({ maxTurns })}
          problem={problems["policy.maxTurns"]}
        />
        <TextField
          label="Max cost ($)"
          inputMode="decimal"
          placeholder="No limit"
          value={draft.cost}
          onValue={(cost) => updateDraft({ cost })}
          problem={problems["policy.budget"]}
        />
        <ChoiceField
          label="Approvals"
          value={draft.approvals}
          choices={getChoices(strictness.approvals, policyLimits.approvals)}
          onValue={(approvals) => updateDraft({ approvals })}
          problem={problems["policy.approvals"]}
        />
        <ChoiceField
          label="Safety gate"
          value={draft.gate}
          choices={getChoices(strictness.gate, policyLimits.gate)}
          onValue={(gate) => updateDraft({ gate })}
          problem={problems["policy.gate"]}
        />
      </div>
      {problems.policy !== undefined && (
        <p role="alert" className="mt-2 text-sm text-bad [overflow-wrap:anywhere]">
          {problems.policy}
        </p>
      )}
    </fieldset>
  );
}
