import {
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from "react";

export type View = { readonly scale: number; readonly x: number; readonly y: number };

type Size = { readonly width: number; readonly height: number };

export type PanZoom = {
  readonly view: View;
  readonly zoom: (factor: number) => void;
  readonly reset: () => void;
  /** Brings a point into the middle, near enough to see it. */
  readonly centre: (x: number, y: number) => void;
  readonly handlers: {
    readonly onPointerDown: (event: PointerEvent) => void;
    readonly onPointerMove: (event: PointerEvent) => void;
    readonly onPointerUp: (event: PointerEvent) => void;
    readonly onPointerCancel: (event: PointerEvent) => void;
    readonly onKeyDown: (event: KeyboardEvent) => void;
  };
};

const whole: View = { scale: 1, x: 0, y: 0 };
const most = 24;
const step = 48;

/** Zooms by a factor around a point of the screen. */
export function zoomedAt(view: View, factor: number, at: { readonly x: number; readonly y: number }): View {
  const scale = Math.min(Math.max(view.scale * factor, 1), most);
  const ratio = scale / view.scale;
  return { scale, x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio };
}

/** Keeps a part of the picture on the screen. */
export function kept({ scale, x, y }: View, { width, height }: Size): View {
  const within = (value: number, length: number): number =>
    Math.min(Math.max(value, length / 2 - length * scale), length / 2);
  return { scale, x: within(x, width), y: within(y, height) };
}

/** Pan and zoom by mouse, touch and keyboard. The wheel zooms only with the picture focused, so that pages still scroll. */
export function usePanZoom(place: RefObject<HTMLElement | null>, size: Size): PanZoom {
  const [view, setView] = useState(whole);
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const { width, height } = size;
  const change = (next: (view: View) => View): void => setView((now) => kept(next(now), { width, height }));
  const middle = { x: width / 2, y: height / 2 };

  useWheel(place, (factor, at) => change((old) => zoomedAt(old, factor, at)));

  const onPointerMove = (event: PointerEvent): void => {
    const before = pointers.current.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    pointers.current.set(event.pointerId, now);
    if (!other) {
      change((old) => ({ ...old, x: old.x + now.x - before.x, y: old.y + now.y - before.y }));
      return;
    }
    const box = event.currentTarget.getBoundingClientRect();
    const factor =
      Math.hypot(now.x - other.x, now.y - other.y) /
      Math.max(Math.hypot(before.x - other.x, before.y - other.y), 1);
    const at = { x: (now.x + other.x) / 2 - box.left, y: (now.y + other.y) / 2 - box.top };
    const moved = { x: (now.x - before.x) / 2, y: (now.y - before.y) / 2 };
    change((old) => zoomedAt({ ...old, x: old.x + moved.x, y: old.y + moved.y }, factor, at));
  };
  const onPointerUp = (event: PointerEvent): void => {
    pointers.current.delete(event.pointerId);
  };
  return {
    view,
    zoom: (factor) => change((old) => zoomedAt(old, factor, middle)),
    reset: () => setView(whole),
    centre: (x, y) =>
      change(({ scale }) => ({
        scale: Math.max(scale, 3),
        x: middle.x - x * Math.max(scale, 3),
        y: middle.y - y * Math.max(scale, 3),
      })),
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
        const next = event.ctrlKey || event.metaKey || event.altKey ? undefined : keyMove(event.key, middle);
        if (!next) return;
        event.preventDefault();
        change(next);
      },
    },
  };
}

function keyMove(
  key: string,
  middle: { readonly x: number; readonly y: number },
): ((view: View) => View) | undefined {
  const [x, y] =
    { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[key] ?? [];
  if (x !== undefined && y !== undefined) return (old) => ({ ...old, x: old.x + x, y: old.y + y });
  if (key === "+" || key === "=") return (old) => zoomedAt(old, 1.4, middle);
  if (key === "-") return (old) => zoomedAt(old, 1 / 1.4, middle);
  return key === "0" ? () => whole : undefined;
}

type OnWheel = (factor: number, at: { readonly x: number; readonly y: number }) => void;

function useWheel(place: RefObject<HTMLElement | null>, onWheel: OnWheel): void {
  const act = useEffectEvent(onWheel);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const listen = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== element) return;
      event.preventDefault();
      const box = element.getBoundingClientRect();
      act(Math.exp(-event.deltaY * 0.002), { x: event.clientX - box.left, y: event.clientY - box.top });
    };
    // React listens passively, and then the page would scroll as well.
    element.addEventListener("wheel", listen, { passive: false });
    return () => element.removeEventListener("wheel", listen);
  }, [place]);
}
