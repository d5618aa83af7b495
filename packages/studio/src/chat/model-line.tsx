import type { About } from "capstan/client";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { Button } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { SelectField } from "../ui/select-field.tsx";

const variables = [
  ["OPENAI_API_KEY", "OpenAI"],
  ["ANTHROPIC_API_KEY", "Anthropic"],
  ["GEMINI_API_KEY", "Google"],
] as const;

type ModelLineProps = {
  readonly about: About | undefined;
  /** The model that the user prefers for new chats. */
  readonly preferred: string | undefined;
  /** Models that were found on the server's machine. */
  readonly localModels: readonly string[];
  readonly onPrefer: (model: string | undefined) => void;
};

/** Shows the model of new chats. Instead of the offline model, offers the models on the machine, or explains how to get one. */
export function ModelLine({ about, preferred, localModels, onPrefer }: ModelLineProps): ReactNode {
  if (preferred !== undefined || !about?.isOffline)
    return <ModelInUse about={about} preferred={preferred} onReset={() => onPrefer(undefined)} />;
  return (
    <div className="grid gap-2">
      <details className="group text-sm">
        <summary className="flex min-h-9 w-fit cursor-pointer list-none flex-wrap items-center gap-x-2 rounded-md">
          <span className="text-warn">Offline model: rules, not AI.</span>
          <span className="text-quiet underline underline-offset-2 group-hover:text-ink">
            Use a real model
          </span>
        </summary>
        <SetupHelp hasLocalModel={localModels.length > 0} />
      </details>
      {localModels.length > 0 && <LocalModelOffer models={localModels} onUse={onPrefer} />}
    </div>
  );
}

type ModelInUseProps = Pick<ModelLineProps, "about" | "preferred"> & { readonly onReset: () => void };

function ModelInUse({ about, preferred, onReset }: ModelInUseProps): ReactNode {
  const name = preferred ?? about?.model;
  return (
    <p className="flex min-h-6 flex-wrap items-center gap-x-2 text-faint text-sm">
      {name !== undefined && `Model: ${escapeBidi(name)}`}
      {preferred !== undefined && about?.isOffline && (
        <Button kind="quiet" size="small" onClick={onReset}>
          Use the offline model
        </Button>
      )}
    </p>
  );
}

type LocalModelOfferProps = {
  readonly models: readonly string[];
  readonly onUse: (model: string) => void;
};

/** Models that were found on the server's machine, to use for new chats. */
function LocalModelOffer({ models, onUse }: LocalModelOfferProps): ReactNode {
  const [first = ""] = models;
  const [selected, select] = useState(first);
  const model = models.includes(selected) ? selected : first;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border bg-raised px-4 py-2.5 text-sm">
      <p className="min-w-0 flex-1 basis-56">
        {models.length === 1 ? (
          <>
            <strong className="font-medium [overflow-wrap:anywhere]">{escapeBidi(model)}</strong> is available
            on this machine.
          </>
        ) : (
          `${models.length} models are available on this machine.`
        )}
      </p>
      {models.length > 1 && (
        <SelectField
          label="Local model"
          value={model}
          choices={models.map((name) => ({ value: name, label: name }))}
          onChange={select}
        />
      )}
      <Button kind="main" onClick={() => onUse(model)}>
        Use it for new chats
      </Button>
    </div>
  );
}

function SetupHelp({ hasLocalModel }: { readonly hasLocalModel: boolean }): ReactNode {
  return (
    <div className="mt-2 grid gap-2 rounded-lg border bg-raised px-4 py-3 text-quiet">
      <p>
        The offline model follows rules. It needs no key and no network, and it only understands what the apps
        define. To use a real model, set one of these variables in the environment where Capstan starts:
      </p>
      <ul className="grid gap-1">
        {variables.map(([variable, company]) => (
          <li key={variable}>
            <code className="font-mono text-ink text-xs">{variable}</code> ({company})
          </li>
        ))}
      </ul>
      <p>
        Then restart Capstan. Keys are never stored or shown here.{" "}
        <Link href="/models" className="text-accent underline underline-offset-2">
          All models
        </Link>
      </p>
      {!hasLocalModel && (
        <p>
          Without a key: run a model on the same machine, for example with Ollama (
          <code className="font-mono text-ink text-xs">ollama pull qwen3:4b</code>), and reload this page.
        </p>
      )}
    </div>
  );
}
