import type { McpServerInfo } from "capstan/client";
import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { classNames } from "../ui/class-names.ts";
import { escapeInvisible } from "../ui/escape-text.ts";

type ToolChangeProps = {
  readonly change: McpServerInfo["changed"][number];
  readonly onTrust: (() => void) | undefined;
};

/** The trusted and the current definition of a tool, side by side. */
export function ToolChange({ change, onTrust }: ToolChangeProps): ReactNode {
  const { name, was, is } = change;
  return (
    <div>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-sm [overflow-wrap:anywhere]">
          <span className="font-mono text-small font-medium">{escapeInvisible(name)}</span>{" "}
          <span className="text-warn">changed and is disabled</span>
        </p>
        {onTrust && (
          <Button size="small" onClick={onTrust}>
            Approve<span className="sr-only"> {escapeInvisible(name)}</span>
          </Button>
        )}
      </div>
      <FieldChanges before={was} after={is} />
    </div>
  );
}

/** Lists the changed fields with both values. */
export function FieldChanges({
  before,
  after,
  labels = ["Before", "After"],
}: {
  readonly before: unknown;
  readonly after: unknown;
  readonly labels?: readonly [string, string];
}): ReactNode {
  return findChangedFields(before, after).map(({ field, was, is }) => (
    <div key={field} className="mt-2">
      <p className="text-xs font-medium text-quiet [overflow-wrap:anywhere]">{escapeInvisible(field)}</p>
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
      <p
        className={classNames(
          "max-h-48 overflow-y-auto whitespace-pre-wrap [overflow-wrap:anywhere]",
          /^[[{]/.test(text) ? "font-mono text-small" : "text-sm",
        )}
      >
        {text === "" ? <span className="text-faint">(empty)</span> : escapeInvisible(text)}
      </p>
    </div>
  );
}

/** A field whose value differs between two versions. */
export type ChangedField = { readonly field: string; readonly was: string; readonly is: string };

/** Returns the fields that differ, formatted as text or JSON. */
export function findChangedFields(before: unknown, after: unknown): readonly ChangedField[] {
  const [was, is] = [toRecord(before), toRecord(after)];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((field) => {
    const pair = { was: formatFieldValue(was[field]), is: formatFieldValue(is[field]) };
    return pair.was === pair.is ? [] : [{ field, ...pair }];
  });
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function formatFieldValue(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join(", ");
  return JSON.stringify(value, undefined, 2);
}
