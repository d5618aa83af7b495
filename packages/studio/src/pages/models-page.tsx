import type { ModelInfo } from "capstan/client";
import { type ReactNode, useState } from "react";
import { client } from "../data/client.ts";
import { useRequest } from "../data/use-request.ts";
import { classNames } from "../ui/class-names.ts";
import { escapeBidi } from "../ui/escape-text.ts";
import { ErrorMessage, Loading } from "../ui/state.tsx";
import { Page, Section, Tag } from "./page.tsx";
import { ShellLines } from "./shell-lines.tsx";

/** Lists the models and their API keys. */
export function ModelsPage(): ReactNode {
  const { value, error, retry } = useRequest("models", () => client.models.list());
  return (
    <Page title="Models" about="The default model, and how to enable others.">
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      {!value && error === undefined && <Loading label="Loading models" />}
      {value && <Models models={value} />}
    </Page>
  );
}

const isReady = ({ key }: ModelInfo) => key.type !== "missing";

function Models({ models }: { readonly models: readonly ModelInfo[] }): ReactNode {
  const inUse = models.find((model) => model.inUse);
  const others = models.filter((model) => !model.inUse);
  const ready = others.filter(isReady);
  const missing = others.filter((model) => !isReady(model));
  return (
    <>
      {inUse && <InUse model={inUse} />}
      {ready.length > 0 && (
        <Section title="Available" about="No key required, or the key is set.">
          <ModelList models={ready} />
        </Section>
      )}
      {missing.length > 0 && (
        <Section
          title="Key missing"
          about="Keys are environment variables of the server process. They are never stored or shown here."
        >
          <ModelList models={missing} />
        </Section>
      )}
      <p className="mt-6 text-xs text-faint">Prices in US dollars per million tokens, where known.</p>
    </>
  );
}

function InUse({ model }: { readonly model: ModelInfo }): ReactNode {
  const isOffline = model.provider === "offline";
  return (
    <section aria-label="Default model" className="mb-8 rounded-lg border bg-raised px-4 py-3.5">
      <p className="text-xs text-quiet">Default model</p>
      <div className="mt-0.5 flex flex-wrap items-baseline justify-between gap-x-6">
        <p className="font-medium [overflow-wrap:anywhere]">{formatModelName(model)}</p>
        <Price model={model} />
      </div>
      <p className={classNames("mt-1 text-sm", isReady(model) ? "text-quiet" : "text-warn")}>
        {isOffline
          ? "Rule-based, not AI: works without a key and without a network. Set a key below to use a real model."
          : formatKeyState(model.key)}
      </p>
      {model.key.type === "missing" && <HowToSet variables={model.key.variables} />}
    </section>
  );
}

function ModelList({ models }: { readonly models: readonly ModelInfo[] }): ReactNode {
  return (
    <ul className="divide-y rounded-lg border bg-raised">
      {models.map((model) => (
        <ModelRow key={formatModelName(model)} model={model} />
      ))}
    </ul>
  );
}

function ModelRow({ model }: { readonly model: ModelInfo }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { key } = model;
  return (
    <li className="px-4 py-2.5">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <div className="min-w-0 flex-1 basis-48">
          <p className="flex flex-wrap items-center gap-2 text-sm font-medium">
            <span className="[overflow-wrap:anywhere]">{formatModelName(model)}</span>
            {model.isOffered && <Tag tone="accent">Selectable in chat</Tag>}
          </p>
          <p className="text-xs text-quiet">
            {model.provider === "ollama" && model.model === undefined
              ? "Requires Ollama on this machine"
              : formatKeyState(key)}
          </p>
        </div>
        <Price model={model} />
        {key.type === "missing" && (
          <button
            type="button"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
            className="h-7 rounded-md px-2 text-small max-sm:-ml-2 max-sm:basis-full max-sm:text-left font-medium text-accent hover:bg-sunken"
          >
            How to set the key<span className="sr-only"> for {model.provider}</span>
          </button>
        )}
      </div>
      {isOpen && key.type === "missing" && <HowToSet variables={key.variables} />}
    </li>
  );
}

/** Shows the provider when the model can be chosen freely. */
const formatModelName = ({ model, provider }: ModelInfo) => escapeBidi(model ?? `${provider}/…`);

function formatKeyState(key: ModelInfo["key"]): string {
  switch (key.type) {
    case "set":
      return `${key.variable} is set`;
    case "missing":
      return `${key.variables.join(" or ")} is not set`;
    case "external":
      return `Uses ${key.source}`;
    case "not_needed":
      return "No key required";
    case "unknown_provider":
      return "Uses its own key";
  }
}

const compactNumber = new Intl.NumberFormat("en", { notation: "compact" });

/** Formats with two decimals, or more below one cent. */
const formatPrice = (amount: number) =>
  Math.round(amount * 100) === amount * 100 ? amount.toFixed(2) : amount;

function Price({ model }: { readonly model: ModelInfo }): ReactNode {
  const { price, contextWindow, key } = model;
  const isPaid = model.model !== undefined && (key.type === "set" || key.type === "missing");
  if (!price && !isPaid) return null;
  return (
    <p className="shrink-0 text-xs tabular-nums text-quiet">
      {contextWindow !== undefined && `${compactNumber.format(contextWindow)} context · `}
      {price ? `$${formatPrice(price.input)} in · $${formatPrice(price.output)} out` : "price unknown"}
    </p>
  );
}

function HowToSet({ variables }: { readonly variables: readonly string[] }): ReactNode {
  const [variable = ""] = variables;
  return (
    <div className="mt-2 grid gap-2 pb-1 text-sm">
      <p className="text-quiet">Set the key in the server's environment, then restart it:</p>
      <ShellLines lines={[`export ${variable}="your key"`, "capstan serve"]} />
      <p className="text-quiet">On Windows, in PowerShell:</p>
      <ShellLines lines={[`$env:${variable} = "your key"`, "capstan serve"]} />
    </div>
  );
}
