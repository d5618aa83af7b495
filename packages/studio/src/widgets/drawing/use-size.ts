import { type RefObject, useEffect, useState } from "react";

export type Size = { readonly width: number; readonly height: number };

const defaultSize: Size = { width: 640, height: 360 };
const minLength = 100;

/** Measures an element, and again when it is resized. */
export function useSize(container: RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState(defaultSize);
  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      const [width, height] = [element.clientWidth, element.clientHeight];
      setSize({
        width: Math.max(Math.round(width), minLength),
        height: Math.max(Math.round(height), minLength),
      });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [container]);
  return size;
}
