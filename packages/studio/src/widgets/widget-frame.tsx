import { type Context, createContext, type ReactNode, useContext } from "react";
import { steadyText } from "../markdown/visible-text.ts";
import { classNames } from "../ui/class-names.ts";

/** Where a widget stands: in the text, with a height of its own, or in a panel, which it fills. */
export const WidgetRoom: Context<"text" | "panel"> = createContext<"text" | "panel">("text");

type WidgetFrameProps = {
  /** What it is, for those who do not see it. */
  readonly label: string;
  readonly title?: string | undefined;
  /** A line of numbers beside the title. */
  readonly note?: string | undefined;
  readonly tools?: ReactNode;
  readonly children: ReactNode;
};

/** The border and head that all widgets have. */
export function WidgetFrame({ label, title, note, tools, children }: WidgetFrameProps): ReactNode {
  const isPanel = useContext(WidgetRoom) === "panel";
  const shown = title === undefined ? label : steadyText(title);
  return (
    <figure
      aria-label={shown}
      className={classNames(
        "min-w-0 overflow-hidden rounded-lg border bg-raised",
        isPanel ? "flex min-h-0 flex-1 flex-col [&>details]:max-h-[38%] [&>details]:overflow-y-auto" : "my-3",
      )}
    >
      <figcaption className="flex min-h-10 flex-wrap items-center gap-x-2 gap-y-1 border-b py-1 pr-1.5 pl-3">
        <span className="min-w-0 truncate font-medium text-sm">{shown}</span>
        {note !== undefined && <span className="shrink-0 text-faint text-xs tabular-nums">{note}</span>}
        <span className="ml-auto flex items-center gap-1">{tools}</span>
      </figcaption>
      {children}
    </figure>
  );
}

/** The same in words: for screen readers, and for everyone who would rather read. */
export function TextAlternative({
  summary,
  isOpen = false,
  children,
}: {
  readonly summary: string;
  /** At first. */
  readonly isOpen?: boolean;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <details open={isOpen} className="border-t text-sm">
      <summary className="cursor-pointer px-3 py-1.5 text-quiet hover:text-ink">{summary}</summary>
      <div className="max-h-72 overflow-y-auto px-3 pb-3">{children}</div>
    </details>
  );
}

type ChoiceProps<T extends string> = {
  readonly label: string;
  readonly options: readonly { readonly value: T; readonly name: string }[];
  readonly value: T;
  readonly onChoose: (value: T) => void;
};

/** A few ways to see the same thing, one of which is on. */
export function Choice<T extends string>({ label, options, value, onChoose }: ChoiceProps<T>): ReactNode {
  return (
    <fieldset aria-label={label} className="flex rounded-md border p-0.5">
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChoose(option.value)}
          className="rounded-[5px] px-2 py-0.5 text-quiet text-xs hover:text-ink aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
        >
          {option.name}
        </button>
      ))}
    </fieldset>
  );
}
