import type { ModelInfo } from "capstan/client";
import { type ReactNode, useState } from "react";
import { client } from "../data/client.ts";
import { useAnswer } from "../data/use-request.ts";
import { steadyText } from "../markdown/visible-text.ts";
import { classNames } from "../ui/class-names.ts";
import { Failure, Loading } from "../ui/state.tsx";
import { Page, Section, Tag } from "./page.tsx";
import { ShellLines } from "./shell-lines.tsx";

/** Which model answers, and what the others need. */
export function ModelsPage(): ReactNode {
  const { value, error, again } = useAnswer("models", () => client.models.list());
  return (
    <Page title="Models" about="Which model answers, and what it takes to use another.">
      {error !== undefined && <Failure message={error} onRetry={again} />}
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
        <Section title="No key missing" about="These need no key, or have it.">
          <ModelList models={ready} />
        </Section>
      )}
      {missing.length > 0 && (
        <Section
          title="Without a key"
          about="A key is a variable of the process that runs the server. It is never stored or shown here."
        >
          <ModelList models={missing} />
        </Section>
      )}
      <p className="mt-6 text-xs text-faint">
        Prices are US dollars per million tokens, as far as they are known.
      </p>
    </>
  );
}

function InUse({ model }: { readonly model: ModelInfo }): ReactNode {
  const isOffline = model.provider === "offline";
  return (
    <section aria-label="The model that answers" className="mb-8 rounded-lg border bg-raised px-4 py-3.5">
      <p className="text-xs text-quiet">Answers when nothing else is chosen</p>
      <div className="mt-0.5 flex flex-wrap items-baseline justify-between gap-x-6">
        <p className="font-medium [overflow-wrap:anywhere]">{nameOf(model)}</p>
        <Price price={model.price} />
      </div>
      <p className={classNames("mt-1 text-sm", isReady(model) ? "text-quiet" : "text-warn")}>
        {isOffline
          ? "Rules, not AI: it works without a key and without a network. Set a key below to talk to a real model."
          : keyWords(model.key)}
      </p>
      {model.key.type === "missing" && <HowToSet variables={model.key.variables} />}
    </section>
  );
}

function ModelList({ models }: { readonly models: readonly ModelInfo[] }): ReactNode {
  return (
    <ul className="divide-y rounded-lg border bg-raised">
      {models.map((model) => (
        <ModelRow key={nameOf(model)} model={model} />
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
            <span className="[overflow-wrap:anywhere]">{nameOf(model)}</span>
            {model.isOffered && <Tag tone="accent">In the chat</Tag>}
          </p>
          <p className="text-xs text-quiet">
            {model.provider === "ollama" ? "Needs no key, but Ollama on this machine" : keyWords(key)}
          </p>
        </div>
        <Price price={model.price} />
        {key.type === "missing" && (
          <button
            type="button"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
            className="h-7 rounded-md px-2 text-[0.8125rem] max-sm:-ml-2 max-sm:basis-full max-sm:text-left font-medium text-accent hover:bg-sunken"
          >
            How to set it<span className="sr-only"> for {model.provider}</span>
          </button>
        )}
      </div>
      {isOpen && key.type === "missing" && <HowToSet variables={key.variables} />}
    </li>
  );
}

/** Left out where it would be one of many. */
const nameOf = ({ model, provider }: ModelInfo) => steadyText(model ?? `${provider}/…`);

function keyWords(key: ModelInfo["key"]): string {
  switch (key.type) {
    case "set":
      return `${key.variable} is set`;
    case "missing":
      return `${key.variables.join(" or ")} is not set`;
    case "not_needed":
      return "Needs no key";
    case "unknown_provider":
      return "Has a key of its own";
  }
}

/** With cents, and with more than those where it is less than one. */
const dollars = (amount: number) => (Math.round(amount * 100) === amount * 100 ? amount.toFixed(2) : amount);

function Price({ price }: { readonly price: ModelInfo["price"] }): ReactNode {
  if (!price) return null;
  return (
    <p className="shrink-0 text-xs tabular-nums text-quiet">
      ${dollars(price.input)} in · ${dollars(price.output)} out
    </p>
  );
}

function HowToSet({ variables }: { readonly variables: readonly string[] }): ReactNode {
  const [variable = ""] = variables;
  return (
    <div className="mt-2 grid gap-2 pb-1 text-sm">
      <p className="text-quiet">Where the server is started, then start it again:</p>
      <ShellLines lines={[`export ${variable}="your key"`, "capstan serve"]} />
      <p className="text-quiet">On Windows, in PowerShell:</p>
      <ShellLines lines={[`$env:${variable} = "your key"`, "capstan serve"]} />
    </div>
  );
}
