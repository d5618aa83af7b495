import type { RunStatistics } from "capstan";
import { type ReactNode, useEffect, useState } from "react";
import { useAbout } from "../data/about.ts";
import { Button } from "../ui/button.tsx";
import { SearchField } from "../ui/search-field.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { emptyView, hasFilter, type RunView, ranges } from "./run-view.ts";
import { useIsWide } from "./use-is-wide.ts";

type FilterBarProps = {
  readonly view: RunView;
  readonly statistics: RunStatistics | undefined;
  readonly onChange: (change: Partial<RunView>) => void;
};

const quickViews: readonly (Partial<RunView> & { readonly label: string })[] = [
  { label: "Newest" },
  { label: "Failed", status: "failed" },
  { label: "Slowest", sort: "ms" },
  { label: "Most expensive", sort: "cost" },
  { label: "Thumbs down", feedback: "down" },
];

/** Questions that are asked often, one click each. They keep the range of time and the user. */
export function QuickViews({ view, onChange }: Omit<FilterBarProps, "statistics">): ReactNode {
  return (
    <div className="flex flex-wrap gap-1.5">
      {quickViews.map(({ label, ...change }) => {
        const { range, user } = view;
        const wanted = { ...emptyView, range, user, ...change };
        const isOn = JSON.stringify(wanted) === JSON.stringify(view);
        return (
          <Button
            key={label}
            size="small"
            kind={isOn ? "main" : "plain"}
            aria-pressed={isOn}
            onClick={() => onChange(wanted)}
          >
            {label}
          </Button>
        );
      })}
    </div>
  );
}

const statuses = [
  { value: "", label: "Any status" },
  ...[
    ...(["done", "failed", "limit", "cancelled"] as const).map((value) => ({ value, label: value })),
    { value: "active", label: "running" },
    { value: "waiting", label: "waiting" },
  ],
];

const ratings = [
  { value: "", label: "Any feedback" },
  { value: "up", label: "Thumbs up" },
  { value: "down", label: "Thumbs down" },
  { value: "none", label: "No feedback" },
];

const toChoices = (label: string, names: readonly string[], chosen: string) => {
  const all = chosen === "" || names.includes(chosen) ? names : [chosen, ...names];
  return [{ value: "", label }, ...all.map((name) => ({ value: name, label: name }))];
};

/** The search and the filters of the runs. */
export function FilterBar({ view, statistics, onChange }: FilterBarProps): ReactNode {
  const { isAdmin = false, agents = [] } = useAbout(({ about }) => about) ?? {};
  const list = (totals: RunStatistics["tools"] | undefined) => (totals ?? []).map(({ name }) => name);
  const agentNames = [...new Set([...agents.map(({ name }) => name), ...list(statistics?.agents)])];
  return (
    <div className="grid gap-2">
      <RunSearch value={view.q} onChange={(q) => onChange({ q })} />
      <FilterRow isFiltered={hasFilter(view)}>
        <SelectField
          label="Time"
          value={view.range}
          choices={Object.entries(ranges).map(([value, { label }]) => ({ value, label }))}
          onChange={(range) => onChange({ range })}
        />
        <SelectField
          label="Status"
          value={view.status}
          choices={statuses}
          onChange={(status) => onChange({ status })}
        />
        <SelectField
          label="Agent"
          value={view.agent}
          choices={toChoices("Any agent", agentNames, view.agent)}
          onChange={(agent) => onChange({ agent, version: "" })}
        />
        <SelectField
          label="Model"
          value={view.model}
          choices={toChoices("Any model", list(statistics?.models), view.model)}
          onChange={(model) => onChange({ model })}
        />
        <SelectField
          label="Tool"
          value={view.tool}
          choices={toChoices("Any tool", list(statistics?.tools), view.tool)}
          onChange={(tool) => onChange({ tool })}
        />
        <SelectField
          label="Feedback"
          value={view.feedback}
          choices={ratings}
          onChange={(feedback) => onChange({ feedback })}
        />
        <TextFilters view={view} onChange={onChange} />
        {isAdmin && (
          <SelectField
            label="User"
            value={view.user}
            choices={[
              { value: "", label: "My runs" },
              { value: "*", label: "All users" },
            ]}
            onChange={(user) => onChange({ user })}
          />
        )}
        {view.version !== "" && (
          <Button size="small" onClick={() => onChange({ version: "" })}>
            Version {view.version} ×
          </Button>
        )}
        {hasFilter(view) && (
          <Button
            size="small"
            kind="quiet"
            onClick={() => onChange({ ...emptyView, range: view.range, sort: view.sort, order: view.order })}
          >
            Clear filters
          </Button>
        )}
      </FilterRow>
    </div>
  );
}

type FilterRowProps = { readonly isFiltered: boolean; readonly children: ReactNode };

/** The filters, folded on a phone unless one is set. */
function FilterRow({ isFiltered, children }: FilterRowProps): ReactNode {
  const row = <div className="flex flex-wrap items-center gap-1.5">{children}</div>;
  if (useIsWide()) return row;
  return (
    <details open={isFiltered} className="text-sm">
      <summary className="cursor-pointer py-1 text-quiet">Filters</summary>
      {row}
    </details>
  );
}

function TextFilters({ view, onChange }: Omit<FilterBarProps, "statistics">): ReactNode {
  return (
    <>
      <SmallField label="Tag" value={view.tag} onChange={(tag) => onChange({ tag })} />
      <SmallField label="Error code" value={view.error} onChange={(error) => onChange({ error })} />
      <SmallField
        label="Min. cost ($)"
        value={view.minCost}
        isNumber
        onChange={(minCost) => onChange({ minCost })}
      />
      <SmallField
        label="Min. time (s)"
        value={view.minMs === "" ? "" : String(Number(view.minMs) / 1_000)}
        isNumber
        onChange={(seconds) => onChange({ minMs: seconds === "" ? "" : String(Number(seconds) * 1_000) })}
      />
    </>
  );
}

const typingMs = 250;

/** Keeps what is typed until the user pauses. */
function useTypedValue(value: string, onChange: (value: string) => void): [string, (typed: string) => void] {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the timer
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => onChange(typed.trim()), typingMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return [typed, setTyped];
}

type FieldProps = { readonly value: string; readonly onChange: (value: string) => void };

function RunSearch({ value, onChange }: FieldProps): ReactNode {
  const [typed, setTyped] = useTypedValue(value, onChange);
  const placeholder = "Search messages and tool results";
  return <SearchField label="Search runs" placeholder={placeholder} value={typed} onChange={setTyped} />;
}

function SmallField({
  label,
  value,
  isNumber = false,
  onChange,
}: FieldProps & { readonly label: string; readonly isNumber?: boolean }): ReactNode {
  const [typed, setTyped] = useTypedValue(value, onChange);
  return (
    <input
      type={isNumber ? "number" : "text"}
      min={isNumber ? 0 : undefined}
      step={isNumber ? "any" : undefined}
      aria-label={label}
      placeholder={label}
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
      className="h-7 w-28 rounded-md border bg-raised px-2 text-small"
    />
  );
}
