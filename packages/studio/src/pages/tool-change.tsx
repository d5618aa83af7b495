import type { McpServerInfo } from "capstan/client";
import type { ReactNode } from "react";
import { visibleText } from "../markdown/visible-text.ts";
import { Button } from "../ui/button.tsx";

type ToolChangeProps = {
  readonly change: McpServerInfo["changed"][number];
  readonly onTrust: (() => void) | undefined;
};

/** What a tool was when it was trusted and what it is, side by side. */
export function ToolChange({ change, onTrust }: ToolChangeProps): ReactNode {
  const { name, was, is } = change;
  return (
    <div>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-sm">
          <span className="font-mono text-[0.8125rem] font-medium">{visibleText(name)}</span>{" "}
          <span className="text-warn">has changed and is off</span>
        </p>
        {onTrust && (
          <Button size="small" onClick={onTrust}>
            Trust<span className="sr-only"> {visibleText(name)}</span>
          </Button>
        )}
      </div>
      <Changes before={was} after={is} />
    </div>
  );
}

/** Each field that is another one, as it was and as it is. */
export function Changes({
  before,
  after,
  labels = ["Was", "Is"],
}: {
  readonly before: unknown;
  readonly after: unknown;
  readonly labels?: readonly [string, string];
}): ReactNode {
  return changedFields(before, after).map(({ field, was, is }) => (
    <div key={field} className="mt-2">
      <p className="text-xs font-medium text-quiet">{visibleText(field)}</p>
      <div className="mt-1 grid gap-2 sm:grid-cols-2">
        <Value label={labels[0]} text={was} />
        <Value label={labels[1]} text={is} />
      </div>
    </div>
  ));
}

function Value({ label, text }: { readonly label: string; readonly text: string }): ReactNode {
  return (
    <div className="min-w-0 rounded-md border bg-paper px-3 py-1.5">
      <p className="text-xs text-faint">{label}</p>
      <p className="max-h-48 overflow-y-auto whitespace-pre-wrap text-sm [overflow-wrap:anywhere]">
        {text === "" ? <span className="text-faint">nothing</span> : visibleText(text)}
      </p>
    </div>
  );
}

/** A field that two versions of something do not have in common. */
export type ChangedField = { readonly field: string; readonly was: string; readonly is: string };

/** The fields of two objects that differ; texts as they are, the rest as JSON. */
export function changedFields(before: unknown, after: unknown): readonly ChangedField[] {
  const [was, is] = [recordOf(before), recordOf(after)];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((field) => {
    const pair = { was: shown(was[field]), is: shown(is[field]) };
    return pair.was === pair.is ? [] : [{ field, ...pair }];
  });
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function shown(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join(", ");
  return JSON.stringify(value, undefined, 2);
}
