import type { About } from "capstan/client";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { escapeBidi } from "../ui/escape-text.ts";

const variables = [
  ["OPENAI_API_KEY", "OpenAI"],
  ["ANTHROPIC_API_KEY", "Anthropic"],
  ["GEMINI_API_KEY", "Google"],
] as const;

/** Shows the model, or how to configure one. */
export function ModelLine({ about }: { readonly about: About | undefined }): ReactNode {
  if (!about?.isOffline)
    return <p className="min-h-6 text-faint text-sm">{about && `Model: ${escapeBidi(about.model)}`}</p>;
  return (
    <details className="group text-sm">
      <summary className="flex w-fit cursor-pointer list-none flex-wrap items-center gap-x-2 rounded-md">
        <span className="text-warn">Offline model: rules, not AI.</span>
        <span className="text-quiet underline underline-offset-2 group-hover:text-ink">Use a real model</span>
      </summary>
      <div className="mt-2 grid gap-2 rounded-lg border bg-raised px-4 py-3 text-quiet">
        <p>
          The offline model follows rules. It needs no key and no network, and it only understands what the
          apps define. To use a real model, set one of these variables in the environment where Capstan
          starts:
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
      </div>
    </details>
  );
}
