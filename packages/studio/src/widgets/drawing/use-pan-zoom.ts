import {
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from "react";
import type { Size } from "./use-size.ts";

export type View = { readonly scale: number; readonly x: number; readonly y: number };

export type PanZoom = {
  readonly view: View;
  readonly zoom: (factor: number) => void;
  readonly reset: () => void;
  /** Zooms so that the points are in the middle and fill most of the view. */
  readonly zoomTo: (points: readonly { readonly x: number; readonly y: number }[]) => void;
  readonly handlers: {
    readonly onPointerDown: (event: PointerEvent) => void;
    readonly onPointerMove: (event: PointerEvent) => void;
    readonly onPointerUp: (event: PointerEvent) => void;
    readonly onPointerCancel: (event: PointerEvent) => void;
    readonly onKeyDown: (event: KeyboardEvent) => void;
  };
};

const fullView: View = { scale: 1, x: 0, y: 0 };
const maxScale = 24;
const panStep = 48;

/** Zooms around a point of the screen. */
export function zoomAt(view: View, factor: number, at: { readonly x: number; readonly y: number }): View {
  const scale = Math.min(Math.max(view.scale * factor, 1), maxScale);
  const ratio = scale / view.scale;
  return { scale, x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio };
}

/** Keeps part of the map on the screen. */
export function clampView({ scale, x, y }: View, { width, height }: Size): View {
  const clampOffset = (value: number, length: number): number =>
    Math.min(Math.max(value, length / 2 - length * scale), length / 2);
  return { scale, x: clampOffset(x, width), y: clampOffset(y, height) };
}

/** Pan and zoom by mouse, touch and keyboard. The wheel only zooms while the map has focus, so that the page still scrolls. */
export function usePanZoom(container: RefObject<HTMLElement | null>, size: Size): PanZoom {
  const [view, setView] = useState(fullView);
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const { width, height } = size;
  const updateView = (next: (view: View) => View): void =>
    setView((point) => clampView(next(point), { width, height }));
  const middle = { x: width / 2, y: height / 2 };

  useWheel(container, (factor, at) => updateView((current) => zoomAt(current, factor, at)));

  const onPointerMove = (event: PointerEvent): void => {
    const before = pointers.current.get(event.pointerId);
    if (!before) return;
    const point = { x: event.clientX, y: event.clientY };
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    pointers.current.set(event.pointerId, point);
    if (!other) {
      updateView((current) => ({
        ...current,
        x: current.x + point.x - before.x,
        y: current.y + point.y - before.y,
      }));
      return;
    }
    const box = event.currentTarget.getBoundingClientRect();
    const factor =
      Math.hypot(point.x - other.x, point.y - other.y) /
      Math.max(Math.hypot(before.x - other.x, before.y - other.y), 1);
    const at = { x: (point.x + other.x) / 2 - box.left, y: (point.y + other.y) / 2 - box.top };
    const moved = { x: (point.x - before.x) / 2, y: (point.y - before.y) / 2 };
    updateView((current) =>
      zoomAt({ ...current, x: current.x + moved.x, y: current.y + moved.y }, factor, at),
    );
  };
  const onPointerUp = (event: PointerEvent): void => {
    pointers.current.delete(event.pointerId);
  };
  return {
    view,
    zoom: (factor) => updateView((current) => zoomAt(current, factor, middle)),
    reset: () => setView(fullView),
    zoomTo: (points) => {
      if (points.length > 0) setView(clampView(getFittingView(points, size), size));
    },
    handlers: {
      onPointerDown(event) {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
      },
      onPointerMove,
      onPointerUp,
      onPointerCancel: onPointerUp,
      onKeyDown(event) {
        const next =
          event.ctrlKey || event.metaKey || event.altKey ? undefined : getKeyMove(event.key, middle);
        if (!next) return;
        event.preventDefault();
        updateView(next);
      },
    },
  };
}

const fitScale = 3;

function getFittingView(points: readonly { readonly x: number; readonly y: number }[], size: Size): View {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const fill = Math.min(size.width / (1.6 * (right - left) + 1), size.height / (1.6 * (bottom - top) + 1));
  const scale = Math.min(Math.max(fill, 1), fitScale);
  return {
    scale,
    x: size.width / 2 - ((left + right) / 2) * scale,
    y: size.height / 2 - ((top + bottom) / 2) * scale,
  };
}

function getKeyMove(
  key: string,
  middle: { readonly x: number; readonly y: number },
): ((view: View) => View) | undefined {
  const [x, y] =
    { ArrowLeft: [panStep, 0], ArrowRight: [-panStep, 0], ArrowUp: [0, panStep], ArrowDown: [0, -panStep] }[
      key
    ] ?? [];
  if (x !== undefined && y !== undefined)
    return (current) => ({ ...current, x: current.x + x, y: current.y + y });
  if (key === "+" || key === "=") return (current) => zoomAt(current, 1.4, middle);
  if (key === "-") return (current) => zoomAt(current, 1 / 1.4, middle);
  return key === "0" ? () => fullView : undefined;
}

type OnWheel = (factor: number, at: { readonly x: number; readonly y: number }) => void;

function useWheel(container: RefObject<HTMLElement | null>, onWheel: OnWheel): void {
  const onWheelChange = useEffectEvent(onWheel);
  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const handleWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== element) return;
      event.preventDefault();
      const box = element.getBoundingClientRect();
      onWheelChange(Math.exp(-event.deltaY * 0.002), {
        x: event.clientX - box.left,
        y: event.clientY - box.top,
      });
    };
    // React registers passive listeners, so the page would scroll too.
    element.addEventListener("wheel", handleWheel, { passive: false });
    return () => element.removeEventListener("wheel", handleWheel);
  }, [container]);
}
