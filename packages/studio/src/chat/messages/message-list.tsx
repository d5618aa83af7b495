import { ArrowDown } from "lucide-react";
import {
  isValidElement,
  memo,
  type NamedExoticComponent,
  type ReactNode,
  type RefObject,
  startTransition,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import type { ChatLocation } from "./find-fact-location.ts";

type MessageListProps = {
  /** Shown above the rows. */
  readonly head?: ReactNode;
  /** Stable while no row changes. */
  readonly rows: readonly ReactNode[];
  /** Live output and pending calls, always rendered below the rows. */
  readonly tail: ReactNode;
  /** Scrolls to the end when this changes. */
  readonly scrollKey: unknown;
  /** Scrolls to this location when the object changes. */
  readonly location: ChatLocation | undefined;
};

/** Closer to the end than this counts as being there. */
const endThresholdPx = 48;

/** Virtualized list that follows its end until the user scrolls away. */
export function MessageList({ head, rows, tail, scrollKey, location }: MessageListProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const { isAway, jump, leave } = useFollowEnd(scroller, content);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key triggers it
  useEffect(() => jump(), [scrollKey]);
  useEffect(() => {
    if (!location) return;
    leave();
    list.current?.scrollToIndex(location.index, {
      align: location.callId === undefined ? "start" : "center",
    });
    return location.callId === undefined ? undefined : scrollToCall(scroller.current, location);
  }, [location, leave]);
  return (
    <div className="relative min-h-0 flex-1">
      <section
        ref={scroller}
        aria-label="Conversation"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
        tabIndex={0}
        className="h-full overflow-y-auto overflow-x-hidden [overflow-anchor:none] [scrollbar-gutter:stable_both-edges] focus-visible:outline-none"
      >
        <div ref={content} className="mx-auto max-w-3xl px-4 pb-6 pt-6 sm:px-6">
          {head && (
            <div className="text-center" style={{ height: headPx }}>
              {head}
            </div>
          )}
          <Rows rows={rows} hasHead={head !== undefined} scroller={scroller} list={list} />
          {tail}
        </div>
      </section>
      {isAway && (
        <button
          type="button"
          onClick={() => jump()}
          className="absolute bottom-3 left-1/2 inline-flex h-8 -translate-x-1/2 animate-[appear_0.12s_both] items-center gap-1.5 rounded-full border bg-raised px-3 text-small text-quiet shadow-lifted hover:text-ink"
        >
          <ArrowDown size={14} aria-hidden="true" />
          Jump to latest
        </button>
      )}
    </div>
  );
}

type RowsProps = Pick<MessageListProps, "rows"> & {
  readonly hasHead: boolean;
  readonly scroller: ElementRef;
  readonly list: RefObject<VirtualizerHandle | null>;
};

const paddingPx = 24;
const headPx = 56;
/** Estimated height of an unrendered row. Too small an estimate would render too many rows. */
const estimatedRowPx = 180;

/** Does not re-render for every delta. */
const Rows: NamedExoticComponent<RowsProps> = memo(function Rows(props: RowsProps) {
  const { rows, hasHead, scroller, list } = props;
  const mountedRows = useMountedRows(rows.length);
  const isPrepended = useIsPrepended(rows);
  return (
    // The virtualizer disables pointer events while scrolling. That is inherited, so every row would be restyled at each
    // start and end, even when the list only follows streamed text.
    <div className="*:pointer-events-auto!">
      <Virtualizer
        ref={list}
        scrollRef={scroller}
        startMargin={paddingPx + (hasHead ? headPx : 0)}
        shift={isPrepended}
        itemSize={estimatedRowPx}
        bufferSize={600}
        keepMounted={mountedRows}
      >
        {rows}
      </Virtualizer>
    </div>
  );
});

/** Whether rows were added before the first one: then the list keeps what is in view in place. */
function useIsPrepended(rows: readonly ReactNode[]): boolean {
  const [first] = rows;
  const key = isValidElement(first) ? first.key : null;
  const previousKey = useRef(key);
  useEffect(() => {
    previousKey.current = key;
  }, [key]);
  return previousKey.current !== null && previousKey.current !== key;
}

/** The newest rows stay mounted for the browser's search and for screen readers. */
const maxMountedRows = 60;
const mountBatchSize = 4;
const mountIntervalMs = 60;

/** Returns the rows that stay mounted. Mounts them in batches to keep the page responsive. */
function useMountedRows(length: number): readonly number[] {
  const [count, setCount] = useState(0);
  const limit = Math.min(length, maxMountedRows);
  useEffect(() => {
    if (count >= limit) return;
    const timer = setTimeout(
      () => startTransition(() => setCount(Math.min(limit, count + mountBatchSize))),
      mountIntervalMs,
    );
    return () => clearTimeout(timer);
  }, [count, limit]);
  return useMemo(() => {
    const first = length - Math.min(count, length);
    return Array.from({ length: length - first }, (_, offset) => first + offset);
  }, [count, length]);
}

const maxFrames = 20;

/** Scrolls to a call once it is rendered: a row with many calls may be taller than the window. */
function scrollToCall(scroller: HTMLElement | null, { seq, callId = "" }: ChatLocation): () => void {
  let frames = 0;
  let frame = requestAnimationFrame(checkPosition);
  function checkPosition(): void {
    const call = scroller?.querySelector(`[data-seq="${seq}"] [data-call="${CSS.escape(callId)}"]`);
    if (scroller && call) {
      const { top, bottom } = call.getBoundingClientRect();
      const bounds = scroller.getBoundingClientRect();
      if (top < bounds.top || bottom > bounds.bottom) call.scrollIntoView({ block: "center" });
    }
    if (++frames < maxFrames) frame = requestAnimationFrame(checkPosition);
  }
  return () => cancelAnimationFrame(frame);
}

type ElementRef = RefObject<HTMLDivElement | null>;
type EndTracking = { readonly isAway: boolean; readonly jump: () => void; readonly leave: () => void };

/** Duration of a touch or wheel gesture's momentum. */
const momentumMs = 800;

/** Returns a function that tells whether the user may be scrolling. A dragged scrollbar only reports pointerdown. */
function trackUserScroll(scroller: HTMLElement): () => boolean {
  let movedAt = Number.NEGATIVE_INFINITY;
  let isPointerDown = false;
  const onMove = () => {
    movedAt = performance.now();
  };
  const onHold = ({ buttons }: PointerEvent) => {
    isPointerDown = buttons > 0;
  };
  for (const type of ["wheel", "touchmove", "keydown"])
    scroller.addEventListener(type, onMove, { passive: true });
  for (const type of ["pointerdown", "pointermove", "pointerup"] as const)
    scroller.addEventListener(type, onHold, { passive: true });
  return () => isPointerDown || performance.now() - movedAt < momentumMs;
}

function useFollowEnd(scroller: ElementRef, content: ElementRef): EndTracking {
  const isFollowing = useRef(true);
  const [isAway, setAway] = useState(false);
  const jump = useCallback(() => {
    isFollowing.current = true;
    setAway(false);
    const { current } = scroller;
    if (current) current.scrollTop = current.scrollHeight;
  }, [scroller]);
  const leave = useCallback(() => {
    isFollowing.current = false;
  }, []);
  useEffect(() => {
    const { current: outer } = scroller;
    const { current: inner } = content;
    if (!outer || !inner) return;
    let { scrollTop: top } = outer;
    const isUserScrolling = trackUserScroll(outer);
    function onScroll(): void {
      if (!outer) return;
      const isNear = outer.scrollHeight - outer.scrollTop - outer.clientHeight < endThresholdPx;
      // The list also scrolls up when rows turn out smaller than estimated: only user scrolling leaves the end.
      if (outer.scrollTop < top - 1 && isUserScrolling()) isFollowing.current = false;
      else if (isNear) isFollowing.current = true;
      top = outer.scrollTop;
      setAway(!isFollowing.current && !isNear);
    }
    const sizes = new ResizeObserver(() => {
      if (isFollowing.current) outer.scrollTop = outer.scrollHeight;
    });
    sizes.observe(inner);
    sizes.observe(outer);
    outer.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      sizes.disconnect();
      outer.removeEventListener("scroll", onScroll);
    };
  }, [scroller, content]);
  return { isAway, jump, leave };
}
