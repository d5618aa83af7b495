import { type ComponentProps, type ReactNode, useId } from "react";
import { classNames } from "./class-names.ts";

type ButtonProps = ComponentProps<"button"> & {
  /** `main`: primary action. `quiet`: secondary. `danger`: cannot be undone. */
  readonly kind?: keyof typeof kinds;
  readonly size?: keyof typeof sizes;
  /** Why the button cannot be used now: disables it, and is shown next to it. */
  readonly blockedBy?: string | false | undefined;
};

const kinds = {
  main: "bg-accent text-accent-ink hover:brightness-95",
  plain: "border bg-raised text-ink hover:bg-sunken",
  quiet: "text-quiet hover:bg-sunken hover:text-ink",
  danger: "border border-bad/40 text-bad hover:bg-bad-soft",
} as const;

const sizes = { normal: "h-9 px-3.5 text-sm", small: "h-7 px-2.5 text-small" } as const;

/** Returns the classes of a button, also for links styled as buttons. */
export function getButtonStyle(
  kind: keyof typeof kinds = "plain",
  size: keyof typeof sizes = "normal",
): string {
  return classNames(
    "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium transition-colors pointer-coarse:min-h-11 pointer-coarse:min-w-11",
    "disabled:pointer-events-none disabled:opacity-45",
    kinds[kind],
    sizes[size],
  );
}

/** A button with a text label. */
export function Button({ kind, size, className, blockedBy, ...rest }: ButtonProps): ReactNode {
  const id = useId();
  const style = classNames(getButtonStyle(kind, size), className);
  if (!blockedBy) return <button type="button" className={style} {...rest} />;
  return (
    <>
      <span id={id} className="text-xs text-quiet">
        {blockedBy}
      </span>
      <button type="button" className={style} {...rest} disabled aria-describedby={id} />
    </>
  );
}

type IconButtonProps = Omit<ComponentProps<"button">, "aria-label"> & {
  /** Accessible name and tooltip. */
  readonly label: string;
  /** Pressed state of a toggle. */
  readonly isOn?: boolean;
};

/** A button with only an icon. */
export function IconButton({ label, isOn, className, ...rest }: IconButtonProps): ReactNode {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      aria-pressed={isOn}
      className={classNames(
        "inline-flex size-8 shrink-0 items-center justify-center rounded-md transition-colors",
        "pointer-coarse:min-h-11 pointer-coarse:min-w-11",
        "hover:bg-sunken hover:text-ink disabled:pointer-events-none disabled:opacity-40",
        isOn ? "bg-accent-soft text-accent" : "text-quiet",
        className,
      )}
      {...rest}
    />
  );
}
