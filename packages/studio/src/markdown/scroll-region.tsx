import type { ComponentProps, ReactNode } from "react";

type ScrollRegionProps = Omit<ComponentProps<"section">, "aria-label" | "tabIndex"> & {
  readonly label: string;
};

/** Something that scrolls by itself: it has a name and can be reached and scrolled by keyboard. */
export function ScrollRegion({ label, ...rest }: ScrollRegionProps): ReactNode {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  return <section tabIndex={0} aria-label={label} {...rest} />;
}
