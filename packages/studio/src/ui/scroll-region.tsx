import { type ComponentProps, type ReactNode, type RefObject, useEffect, useRef } from "react";
import { classNames } from "./class-names.ts";

type ScrollRegionProps = Omit<ComponentProps<"section">, "aria-label" | "tabIndex" | "ref"> & {
  readonly label: string;
  readonly ref?: RefObject<HTMLElement | null>;
};

/** A scrollable region with a name, reachable by keyboard; a `group` if others may have the same name. It fades out at the edges that hide more. */
export function ScrollRegion({ label, ref, className, ...rest }: ScrollRegionProps): ReactNode {
  const own = useRef<HTMLElement>(null);
  const region = ref ?? own;
  useScrollEdges(region);
  return (
    <section
      ref={region}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
      tabIndex={0}
      aria-label={label}
      className={classNames("scroll-edges", className)}
      {...rest}
    />
  );
}

/** Names the edges with more content behind them in `data-more`. Changes no state, as it runs on every scroll. */
function useScrollEdges(region: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const { current: element } = region;
    if (!element) return;
    const update = (): void => {
      element.dataset.more = listHiddenEdges(element).join(" ");
    };
    const observer = new ResizeObserver(update);
    for (const observed of [element, ...element.children]) observer.observe(observed);
    element.addEventListener("scroll", update, { passive: true });
    update();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", update);
    };
  }, [region]);
}

function listHiddenEdges(element: HTMLElement): readonly string[] {
  const { clientWidth, clientHeight, scrollWidth, scrollHeight, scrollTop } = element;
  // Negative in text from right to left.
  const scrolled = Math.abs(element.scrollLeft);
  const isRtl = getComputedStyle(element).direction === "rtl";
  const [start, end] = isRtl ? ["right", "left"] : ["left", "right"];
  return [
    scrolled > 1 ? start : "",
    scrollWidth - clientWidth - scrolled > 1 ? end : "",
    scrollHeight - clientHeight - scrollTop > 1 ? "bottom" : "",
  ].filter((edge) => edge !== "");
}
