import { type Context, createContext, type ReactNode, useContext } from "react";
import { classNames } from "../ui/class-names.ts";
import { escapeBidi } from "../ui/escape-text.ts";
import { ScrollRegion } from "../ui/scroll-region.tsx";

/** Where a widget is rendered: in the text with its own height, or filling a panel. */
export const WidgetRoom: Context<"text" | "panel"> = createContext<"text" | "panel">("text");

type WidgetFrameProps = {
  /** Accessible name if there is no title. */
  readonly label: string;
  readonly title?: string | undefined;
  /** Short note next to the title. */
  readonly note?: string | undefined;
  readonly tools?: ReactNode;
  readonly children: ReactNode;
};

/** Border and header of a widget. */
export function WidgetFrame({ label, title, note, tools, children }: WidgetFrameProps): ReactNode {
  const isPanel = useContext(WidgetRoom) === "panel";
  const heading = title === undefined ? label : escapeBidi(title);
  return (
    <figure
      aria-label={heading}
      className={classNames(
        "min-w-0 overflow-hidden rounded-lg border bg-raised",
        isPanel
          ? "flex min-h-0 flex-1 flex-col [&>details]:max-h-[38%] [&>details]:overflow-y-auto [&>details>section]:max-h-none"
          : "my-3",
      )}
    >
      <figcaption className="flex min-h-10 flex-wrap items-center gap-x-2 gap-y-1 border-b py-1 pr-1.5 pl-3">
        <span className="min-w-0 truncate font-medium text-sm">{heading}</span>
        {note !== undefined && <span className="shrink-0 text-faint text-xs tabular-nums">{note}</span>}
        <span className="ml-auto flex items-center gap-1">{tools}</span>
      </figcaption>
      {children}
    </figure>
  );
}

/** Text alternative for screen readers and other readers. */
export function TextAlternative({
  summary,
  isOpen = false,
  children,
}: {
  readonly summary: string;
  /** Initial state. */
  readonly isOpen?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <details open={isOpen} className="border-t text-sm">
      <summary className="cursor-pointer px-3 py-1.5 pointer-coarse:py-3 text-quiet hover:text-ink">
        {summary}
      </summary>
      <ScrollRegion role="group" label={summary} className="max-h-72 overflow-y-auto px-3 pb-3">
        {children}
      </ScrollRegion>
    </details>
  );
}

type ChoiceProps<T extends string> = {
  readonly label: string;
  readonly options: readonly { readonly value: T; readonly name: string }[];
  readonly value: T;
  readonly onChoose: (value: T) => void;
};

/** A group of toggle buttons. */
export function Choice<T extends string>({ label, options, value, onChoose }: ChoiceProps<T>): ReactNode {
  return (
    <fieldset aria-label={label} className="flex rounded-md border p-0.5">
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChoose(option.value)}
          className="rounded-[5px] px-2 py-0.5 pointer-coarse:min-h-11 pointer-coarse:min-w-11 text-quiet text-xs hover:text-ink aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
        >
          {option.name}
        </button>
      ))}
    </fieldset>
  );
}
