import type { Fact } from "capstan";
import { formatCount } from "capstan/sessions";
import { ChevronRight } from "lucide-react";
import { type ReactNode, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { VList, type VListHandle } from "virtua";
import { useAbout } from "../data/about.ts";
import type { OpenSession } from "../data/open-session.ts";
import { classNames } from "../ui/class-names.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { SelectField } from "../ui/select-field.tsx";
import { EmptyState } from "../ui/state.tsx";
import { useInspectorFocus } from "./focus.ts";
import { formatFullNumber } from "./format-facts.ts";
import { RawJson } from "./raw-json.tsx";
import { ViewEvents } from "./view-events.tsx";

/** The events of the session: the stored ones, or one of the server's views of them. */
export function EventsTab({ session }: { readonly session: OpenSession }): ReactNode {
  const views = useAbout(({ about }) => about?.eventViews);
  const [view, setView] = useState("");
  const description = views?.find(({ name }) => name === view)?.description ?? "Everything that is stored";
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex shrink-0 items-center gap-2 px-4 pt-2">
        <SelectField
          label="Event view"
          value={view}
          choices={[
            { value: "", label: "Stored events" },
            ...(views ?? []).map(({ name }) => ({ value: name, label: name })),
          ]}
          onChange={setView}
        />
        <p className="min-w-0 flex-1 truncate text-xs text-quiet">{escapeBidi(description)}</p>
      </div>
      {view === "" ? <StoredEvents session={session} /> : <ViewEvents sessionId={session.id} view={view} />}
    </div>
  );
}

/** All stored events of the session. */
function StoredEvents({ session }: { readonly session: OpenSession }): ReactNode {
  const { facts, view } = session;
  const [type, setType] = useState("");
  const [query, setQuery] = useState("");
  // Filtering thousands of events must not block typing.
  const deferredQuery = useDeferredValue(query);
  const { factSeq } = useInspectorFocus();
  const [openSeqs, setOpenSeqs] = useState<ReadonlySet<number>>(
    () => new Set(factSeq === undefined ? [] : [factSeq]),
  );
  const list = useRef<VListHandle>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list grows; `seq` tells when
  const matches = useMemo(
    () => filterFacts(facts, { type, query: deferredQuery }),
    [facts, view.seq, type, deferredQuery],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list grows; `seq` tells when
  const types = useMemo(() => [...new Set(facts.map((fact) => fact.type))].sort(), [facts, view.seq]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: new events must not scroll the list
  useEffect(() => {
    const index = matches.findIndex(({ seq }) => seq === factSeq);
    if (index >= 0) list.current?.scrollToIndex(index, { align: "center" });
  }, [factSeq]);
  if (facts.length === 0)
    return <EmptyState title="No events yet">Send a message to see its stored events.</EmptyState>;
  function toggle(seq: number): void {
    const next = new Set(openSeqs);
    if (!next.delete(seq)) next.add(seq);
    setOpenSeqs(next);
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex min-h-10 shrink-0 items-center py-1 gap-2 px-4">
        <input
          type="search"
          aria-label="Search events"
          placeholder="Search"
          value={query}
          onChange={({ target }) => setQuery(target.value)}
          className="h-7 min-w-0 flex-1 rounded-md border bg-raised px-2.5 text-small"
        />
        <SelectField
          label="Type"
          value={type}
          choices={[
            { value: "", label: "All types" },
            ...types.map((factType) => ({ value: factType, label: factType })),
          ]}
          onChange={setType}
        />
        <CopyButton label="Copy events" text={() => JSON.stringify(matches, undefined, 2)} />
      </div>
      <p className="sr-only" role="status">
        {formatFullNumber(matches.length)} of {formatCount(facts.length, "event")}
      </p>
      {matches.length === 0 ? (
        <EmptyState title="No matching events">Change the search or choose all types.</EmptyState>
      ) : (
        <VList ref={list} data={matches} itemSize={30} className="min-h-0 flex-1 [scrollbar-gutter:stable]">
          {(fact) => (
            <EventLine
              key={fact.seq}
              fact={fact}
              isOpen={openSeqs.has(fact.seq)}
              isFocused={fact.seq === factSeq}
              onToggle={() => toggle(fact.seq)}
            />
          )}
        </VList>
      )}
    </div>
  );
}

type EventFilter = { readonly type: string; readonly query: string };

/** Filters facts by type and text. */
export function filterFacts(facts: readonly Fact[], { type, query }: EventFilter): readonly Fact[] {
  const needle = query.trim().toLowerCase();
  return facts.filter((fact) => {
    if (type !== "" && fact.type !== type) return false;
    return needle === "" || JSON.stringify(fact).toLowerCase().includes(needle);
  });
}

type EventLineProps = {
  readonly fact: Fact;
  readonly isOpen: boolean;
  readonly isFocused: boolean;
  readonly onToggle: () => void;
};

const time = new Intl.DateTimeFormat("en", {
  ...{ hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 },
  hourCycle: "h23",
});

function EventLine({ fact, isOpen, isFocused, onToggle }: EventLineProps): ReactNode {
  const isBad = fact.type === "error" || fact.type === "model_failed" || fact.type === "limit_reached";
  return (
    <div data-event={fact.seq} className={classNames("px-4", isFocused && "bg-accent-soft")}>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={onToggle}
        className="flex h-7.5 w-full items-center gap-2 text-left text-xs"
      >
        <ChevronRight
          size={12}
          aria-hidden="true"
          className={classNames(
            "shrink-0 text-faint transition-transform duration-100",
            isOpen && "rotate-90",
          )}
        />
        <span className="w-8 shrink-0 text-right text-faint tabular-nums">{fact.seq}</span>
        <span className={classNames("shrink-0 font-mono", isBad && "text-bad")}>{fact.type}</span>
        <span className="min-w-0 flex-1 truncate text-quiet">{escapeBidi(describeFact(fact))}</span>
        <span className="shrink-0 text-faint tabular-nums">{time.format(fact.at)}</span>
      </button>
      {isOpen && (
        <div className="pb-2 pl-5">
          <RawJson label={`event ${fact.seq}`} value={fact} />
        </div>
      )}
    </div>
  );
}

function describeFact(fact: Fact): string {
  const nestedAgent = fact.parentRunId === undefined ? [] : [fact.agent];
  const { name, to, message, status, model } = fact as Partial<Record<string, unknown>>;
  const detail = [name, to, status, model, message].find(
    (value) => typeof value === "string" && value !== "",
  );
  return [...nestedAgent, ...(typeof detail === "string" ? [detail.slice(0, 160)] : [])].join(": ");
}
