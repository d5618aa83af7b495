import type { ComponentProps, ReactNode } from "react";

type ScrollRegionProps = Omit<ComponentProps<"section">, "aria-label" | "tabIndex"> & {
  readonly label: string;
};

/** A scrollable region with a name, reachable by keyboard. */
export function ScrollRegion({ label, ...rest }: ScrollRegionProps): ReactNode {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
  return <section tabIndex={0} aria-label={label} {...rest} />;
}
