import { type FormEvent, type ReactNode, useState } from "react";
import { admin, type Quotas } from "../data/admin.ts";
import { runWithToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";

const megabyte = 1e6;

/** The quotas that the form edits. Other windows stay as they are. */
const fields = [
  { label: "Runs per minute", name: "runs", window: "minute" },
  { label: "Runs per day", name: "runs", window: "day" },
  { label: "Tokens per day", name: "tokens", window: "day" },
  { label: "Dollars per day", name: "cost", window: "day" },
  { label: "Dollars per month", name: "cost", window: "month" },
  { label: "Concurrent runs", name: "concurrentRuns" },
  { label: "Storage in MB", name: "storage" },
  { label: "Sessions", name: "sessions" },
] as const;

type Field = (typeof fields)[number];

function getFieldText(quotas: Quotas, field: Field): string {
  const value = quotas[field.name];
  if (value === undefined) return "";
  const limit = typeof value === "object" && "window" in field ? value[field.window] : value;
  if (typeof limit === "number") return `${field.name === "storage" ? limit / megabyte : limit}`;
  return limit === "unlimited" ? limit : "";
}

/** Merges the texts of the form into the quotas. An empty text removes a limit. */
export function mergeQuotas(quotas: Quotas, texts: readonly string[]): Quotas {
  const merged: { [name: string]: unknown } = { ...quotas };
  for (const [index, field] of fields.entries()) {
    const text = (texts[index] ?? "").trim();
    if (text === getFieldText(quotas, field)) continue;
    const number = Number(text) * (field.name === "storage" ? megabyte : 1);
    const before = merged[field.name];
    if (text === "unlimited") merged[field.name] = text;
    else if (!("window" in field)) merged[field.name] = text === "" ? undefined : number;
    else {
      const windows = typeof before === "object" ? before : {};
      merged[field.name] = { ...windows, [field.window]: text === "" ? undefined : number };
    }
  }
  return (
    JSON.parse(JSON.stringify(merged), (_, value) =>
      typeof value === "object" && value !== null && Object.keys(value).length === 0 ? undefined : value,
    ) ?? {}
  );
}

type QuotaButtonProps = {
  /** Undefined for the quotas of all users. */
  readonly user: string | undefined;
  readonly quotas: Quotas;
  readonly onSaved: () => void;
};

/** Opens a form for the quotas of a user. */
export function QuotaButton({ user, quotas, onSaved }: QuotaButtonProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const owner = user === undefined ? "all users" : user || "the local user";
  function save(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const texts = fields.map((_, index) => String(data.get(`${index}`) ?? ""));
    runWithToast(async () => {
      await admin.setQuotas(user, mergeQuotas(quotas, texts));
      close();
      onSaved();
    });
  }
  return (
    <>
      <Button size="small" aria-label={`Edit quotas of ${owner}`} onClick={() => setOpen(true)}>
        Edit quotas
      </Button>
      <Dialog
        title={`Quotas of ${owner}`}
        description="Leave a field empty for no limit of its own. Write “unlimited” to lift the limit of all users."
        isOpen={isOpen}
        onClose={close}
      >
        <form onSubmit={save} className="grid gap-3 sm:grid-cols-2">
          {fields.map((field, index) => (
            <label key={field.label} className="grid gap-1 text-sm">
              {field.label}
              <input
                name={`${index}`}
                defaultValue={getFieldText(quotas, field)}
                inputMode="decimal"
                pattern="\d+(\.\d+)?|unlimited"
                className="h-9 rounded-md border bg-raised px-3 text-sm"
              />
            </label>
          ))}
          <div className="flex justify-end gap-2 sm:col-span-2">
            <Button onClick={close}>Cancel</Button>
            <Button kind="main" type="submit">
              Save
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
