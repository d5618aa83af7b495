import type { Fact } from "capstan";
import { ChevronRight } from "lucide-react";
import { type ReactNode, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { VList, type VListHandle } from "virtua";
import type { OpenSession } from "../data/open-session.ts";
import { steadyText } from "../markdown/visible-text.ts";
import { classNames } from "../ui/class-names.ts";
import { CopyText } from "../ui/copy-text.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { Nothing } from "../ui/state.tsx";
import { longNumber } from "./fact-text.ts";
import { useInspectorFocus } from "./focus.ts";
import { RawJson } from "./raw-json.tsx";

/** Every stored event of the session, as it is. */
export function EventsTab({ session }: { readonly session: OpenSession }): ReactNode {
  const { facts, view } = session;
  const [type, setType] = useState("");
  const [words, setWords] = useState("");
  // Reading through thousands of events must not hold up the typing.
  const wanted = useDeferredValue(words);
  const { factSeq } = useInspectorFocus();
  const [open, setOpen] = useState<ReadonlySet<number>>(
    () => new Set(factSeq === undefined ? [] : [factSeq]),
  );
  const list = useRef<VListHandle>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list grows; the position says when
  const found = useMemo(() => search(facts, { type, words: wanted }), [facts, view.seq, type, wanted]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list grows; the position says when
  const types = useMemo(() => [...new Set(facts.map((fact) => fact.type))].sort(), [facts, view.seq]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another focus moves the list, not what comes in
  useEffect(() => {
    const at = found.findIndex(({ seq }) => seq === factSeq);
    if (at >= 0) list.current?.scrollToIndex(at, { align: "center" });
  }, [factSeq]);
  if (facts.length === 0)
    return <Nothing title="No events yet">Ask something, and see here all that is stored of it.</Nothing>;
  function toggle(seq: number): void {
    const next = new Set(open);
    if (!next.delete(seq)) next.add(seq);
    setOpen(next);
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex h-10 shrink-0 items-center gap-2 px-4">
        <input
          type="search"
          aria-label="Search the events"
          placeholder="Search"
          value={words}
          onChange={({ target }) => setWords(target.value)}
          className="h-7 min-w-0 flex-1 rounded-md border bg-raised px-2.5 text-[0.8125rem]"
        />
        <SelectField
          label="Type"
          value={type}
          choices={[{ value: "", label: "All types" }, ...types.map((one) => ({ value: one, label: one }))]}
          onChange={setType}
        />
        <CopyText label="Copy these events" text={() => JSON.stringify(found, undefined, 2)} />
      </div>
      <p className="sr-only" role="status">
        {longNumber(found.length)} of {longNumber(facts.length)} events
      </p>
      {found.length === 0 ? (
        <Nothing title="No such event">Search for something else, or choose all types.</Nothing>
      ) : (
        <VList ref={list} data={found} itemSize={30} className="min-h-0 flex-1 [scrollbar-gutter:stable]">
          {(fact) => (
            <EventLine
              key={fact.seq}
              fact={fact}
              isOpen={open.has(fact.seq)}
              isFocused={fact.seq === factSeq}
              onToggle={() => toggle(fact.seq)}
            />
          )}
        </VList>
      )}
    </div>
  );
}

type Wanted = { readonly type: string; readonly words: string };

/** Of a type, and with these words somewhere in them. */
export function search(facts: readonly Fact[], { type, words }: Wanted): readonly Fact[] {
  const wanted = words.trim().toLowerCase();
  return facts.filter((fact) => {
    if (type !== "" && fact.type !== type) return false;
    return wanted === "" || JSON.stringify(fact).toLowerCase().includes(wanted);
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
        <span className="min-w-0 flex-1 truncate text-quiet">{steadyText(aboutFact(fact))}</span>
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

function aboutFact(fact: Fact): string {
  const inside = fact.parentRunId === undefined ? [] : [fact.agent];
  const { name, to, message, status, model } = fact as Partial<Record<string, unknown>>;
  const said = [name, to, status, model, message].find((value) => typeof value === "string" && value !== "");
  return [...inside, ...(typeof said === "string" ? [said.slice(0, 160)] : [])].join(": ");
}
