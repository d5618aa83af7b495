import type { AgentInfo, AgentParts } from "capstan/client";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { client } from "../data/client.ts";
import { Button } from "../ui/button.tsx";
import { AgentConflict } from "./agent-conflict.tsx";
import {
  type AgentDraft,
  dataOf,
  draftOf,
  emptyDraft,
  type FieldProblems,
  fieldProblems,
} from "./agent-draft.ts";
import { CheckField, ChoiceField, TextField } from "./agent-fields.tsx";

type AgentFormProps = {
  /** The stored one that is changed; a new one is made when left out. */
  readonly agent?: AgentInfo;
  readonly parts: AgentParts;
  /** Whom it could hand off to. */
  readonly others: readonly { readonly name: string; readonly description?: string }[];
  readonly onSaved: (agent: AgentInfo) => void;
  readonly onClose: () => void;
  /** Whether there is something in it that is not saved. */
  readonly onTyped: (isTyped: boolean) => void;
};

type Trouble = { readonly problems?: FieldProblems; readonly theirs?: AgentInfo };

/** Makes an agent, or the next version of one. The server says what is wrong, and it is shown where it is. */
export function AgentForm(props: AgentFormProps): ReactNode {
  const { agent, parts, others, onSaved, onClose, onTyped } = props;
  const [draft, setDraft] = useState(() => draftFrom(agent));
  const [base, setBase] = useState(agent);
  const [trouble, setTrouble] = useState<Trouble>({});
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (Object.keys(trouble).length > 0)
      form.current?.querySelector('[role="alert"]')?.scrollIntoView({ block: "center" });
  }, [trouble]);
  useEffect(() => onTyped(JSON.stringify(draft) !== JSON.stringify(draftFrom(base))), [draft, base, onTyped]);
  const change = (part: Partial<AgentDraft>) => setDraft((before) => ({ ...before, ...part }));

  async function save(onto: AgentInfo | undefined): Promise<void> {
    setBusy(true);
    setTrouble({});
    const data = dataOf(draft, base?.data);
    try {
      onSaved(await client.agents.save(data, onto?.version ?? 0));
    } catch (thrown) {
      const { code, message } = Object(thrown) as { readonly code?: string; readonly message: string };
      const theirs =
        code === "position_conflict" ? await client.agents.get(data.name).catch(() => undefined) : undefined;
      setTrouble(theirs ? { theirs } : { problems: fieldProblems(message) });
    } finally {
      setBusy(false);
    }
  }
  const { problems = {}, theirs } = trouble;
  return (
    <form
      ref={form}
      className="grid gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        void save(base);
      }}
    >
      <Words draft={draft} change={change} problems={problems} isNew={agent === undefined} parts={parts} />
      <Abilities draft={draft} change={change} problems={problems} parts={parts} others={others} />
      <Limits draft={draft} change={change} problems={problems} parts={parts} />
      {problems[""] !== undefined && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
          {problems[""]}
        </p>
      )}
      {theirs && (
        <AgentConflict
          theirs={theirs}
          mine={dataOf(draft, base?.data)}
          onTheirs={() => {
            setBase(theirs);
            if (theirs.data) setDraft(draftFrom(theirs));
            setTrouble({});
          }}
          onMine={() => {
            setBase(theirs);
            void save(theirs);
          }}
        />
      )}
      <div className="sticky -bottom-4 -mx-5 -mb-4 flex justify-end gap-2 border-t bg-raised px-5 py-3">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="main" type="submit" disabled={isBusy || draft.name.trim() === ""}>
          {agent ? "Save as the next version" : "Make the agent"}
        </Button>
      </div>
    </form>
  );
}

const draftFrom = (agent: AgentInfo | undefined): AgentDraft =>
  agent?.data ? draftOf(agent.data) : emptyDraft;

type PartProps = {
  readonly draft: AgentDraft;
  readonly change: (part: Partial<AgentDraft>) => void;
  readonly problems: FieldProblems;
  readonly parts: AgentParts;
};

function Words({
  draft,
  change,
  problems,
  isNew,
  parts,
}: PartProps & { readonly isNew: boolean }): ReactNode {
  const models = useId();
  return (
    <>
      <TextField
        label="Name"
        value={draft.name}
        onValue={(name) => change({ name })}
        problem={problems.name}
        disabled={!isNew}
        maxLength={128}
        {...(!isNew && { hint: "A name stays. Export and import it to have a copy under another one." })}
      />
      <TextField
        label="Description"
        hint="What it is for, in a sentence. People choose by it, and the model reads it."
        value={draft.description}
        onValue={(description) => change({ description })}
        problem={problems.description}
      />
      <TextField
        label="Prompt"
        hint="What it must and must not do."
        rows={6}
        value={draft.prompt}
        onValue={(prompt) => change({ prompt })}
        problem={problems.prompt}
      />
      <TextField
        label="Model"
        hint={
          parts.models
            ? `Left empty: ${parts.models[0] ?? "none"}. Several, parted by commas, are tried in order.`
            : "As provider/model. Several, parted by commas, are tried in order."
        }
        list={models}
        value={draft.model}
        onValue={(model) => change({ model })}
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

type AbilitiesProps = PartProps & Pick<AgentFormProps, "others">;

function Abilities({ draft, change, problems, parts, others }: AbilitiesProps): ReactNode {
  return (
    <>
      <CheckField
        label="Tools"
        chosen={draft.tools}
        choices={parts.tools}
        onChosen={(tools) => change({ tools })}
        none="This server gives no tools to agents that people make."
        problem={problems.tools}
      />
      {(parts.sources.length > 0 || draft.sources.length > 0) && (
        <CheckField
          label="Sources"
          hint="Where its tools may look."
          chosen={draft.sources}
          choices={parts.sources.map((name) => ({ name }))}
          onChosen={(sources) => change({ sources })}
          none=""
          problem={problems.sources}
        />
      )}
      <CheckField
        label="May hand over to"
        chosen={draft.handoffs}
        choices={others.filter(({ name }) => name !== draft.name)}
        onChosen={(handoffs) => change({ handoffs })}
        none="There is no other agent."
        problem={problems.handoffs}
      />
    </>
  );
}

const strictness = { approvals: ["deny", "ask", "allow"], gate: ["strict", "default", "off"] } as const;
const words = {
  deny: "Refuse what needs a person",
  ask: "Ask a person",
  allow: "Allow without asking",
  strict: "Ask after any untrusted words",
  default: "Ask when untrusted words meet private data",
  off: "Never ask",
} as const;

/** Those that are no looser than the server allows. */
function choicesOf<Value extends keyof typeof words>(all: readonly Value[], loosest: Value | undefined) {
  const allowed = loosest === undefined ? all : all.slice(0, all.indexOf(loosest) + 1);
  return [
    { value: "" as const, label: "As the server has it" },
    ...allowed.map((value) => ({ value, label: words[value] })),
  ];
}

function Limits({ draft, change, problems, parts }: PartProps): ReactNode {
  const { policyLimits } = parts;
  return (
    <fieldset>
      <legend className="mb-2 text-sm font-semibold">Policy</legend>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Most turns"
          inputMode="numeric"
          placeholder="As the server has it"
          value={draft.maxTurns}
          onValue={(maxTurns) => change({ maxTurns })}
          problem={problems["policy.maxTurns"]}
        />
        <TextField
          label="Most cost, in dollars"
          inputMode="decimal"
          placeholder="No limit"
          value={draft.cost}
          onValue={(cost) => change({ cost })}
          problem={problems["policy.budget"]}
        />
        <ChoiceField
          label="Approvals"
          value={draft.approvals}
          choices={choicesOf(strictness.approvals, policyLimits.approvals)}
          onValue={(approvals) => change({ approvals })}
          problem={problems["policy.approvals"]}
        />
        <ChoiceField
          label="Safety gate"
          value={draft.gate}
          choices={choicesOf(strictness.gate, policyLimits.gate)}
          onValue={(gate) => change({ gate })}
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
