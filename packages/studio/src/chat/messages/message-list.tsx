import { ArrowDown } from "lucide-react";
import {
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
import type { ChatPlace } from "./find-fact-location.ts";

type MessageListProps = {
  /** The same as long as none of them has changed. */
  readonly rows: readonly ReactNode[];
  /** What is being said, and what waits: always drawn, below the rest. */
  readonly tail: ReactNode;
  /** Goes to the end whenever this changes. */
  readonly jumpOn: unknown;
  /** Goes there whenever this is another object. */
  readonly place: ChatPlace | undefined;
};

/** So near the end counts as there. */
const nearPixels = 48;

/** The conversation, which follows its end as long as the person is there. Of long ones only what is near is drawn. */
export function MessageList({ rows, tail, jumpOn, place }: MessageListProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const { isAway, jump, leave } = useEnd(scroller, content);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the value says when
  useEffect(() => jump(), [jumpOn]);
  useEffect(() => {
    if (!place) return;
    leave();
    list.current?.scrollToIndex(place.at, { align: place.callId === undefined ? "start" : "center" });
    return place.callId === undefined ? undefined : whenDrawn(scroller.current, place);
  }, [place, leave]);
  return (
    <div className="relative min-h-0 flex-1">
      <section
        ref={scroller}
        aria-label="Conversation"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        tabIndex={0}
        className="h-full overflow-y-auto overflow-x-hidden [overflow-anchor:none] [scrollbar-gutter:stable_both-edges] focus-visible:outline-none"
      >
        <div ref={content} className="mx-auto max-w-3xl px-4 pb-6 pt-6 sm:px-6">
          <Rows rows={rows} scroller={scroller} list={list} />
          {tail}
        </div>
      </section>
      {isAway && (
        <button
          type="button"
          onClick={() => jump()}
          className="absolute bottom-3 left-1/2 inline-flex h-8 -translate-x-1/2 animate-[appear_0.12s_both] items-center gap-1.5 rounded-full border bg-raised px-3 text-[0.8125rem] text-quiet shadow-lifted hover:text-ink"
        >
          <ArrowDown size={14} aria-hidden="true" />
          Jump to the newest
        </button>
      )}
    </div>
  );
}

type RowsProps = Pick<MessageListProps, "rows"> & {
  readonly scroller: Place;
  readonly list: RefObject<VirtualizerHandle | null>;
};

/** Of a row that was never drawn. Too small a guess would draw many at once. */
const usualPixels = 180;

/** Not drawn again for every word that is said below them. */
const Rows: NamedExoticComponent<RowsProps> = memo(function Rows({ rows, scroller, list }: RowsProps) {
  const kept = useKept(rows.length);
  return (
    // The list takes itself out of the way of the pointer while it scrolls. That is inherited: everything in it would get
    // its style anew at each beginning and end, also when it only follows what is being said.
    <div className="*:pointer-events-auto!">
      <Virtualizer
        ref={list}
        scrollRef={scroller}
        startMargin={24}
        itemSize={usualPixels}
        bufferSize={600}
        keepMounted={kept}
      >
        {rows}
      </Virtualizer>
    </div>
  );
});

/** The newest ones are there for the search of the browser and for screen readers, wherever one has scrolled to. */
const mostKept = 60;
const keptAtOnce = 4;
const keptEveryMs = 60;

/** Which are drawn even out of sight. A few at a time: all of a long session at once would be felt. */
function useKept(length: number): readonly number[] {
  const [count, setCount] = useState(0);
  const most = Math.min(length, mostKept);
  useEffect(() => {
    if (count >= most) return;
    const timer = setTimeout(
      () => startTransition(() => setCount(Math.min(most, count + keptAtOnce))),
      keptEveryMs,
    );
    return () => clearTimeout(timer);
  }, [count, most]);
  return useMemo(() => {
    const first = length - Math.min(count, length);
    return Array.from({ length: length - first }, (_, at) => first + at);
  }, [count, length]);
}

const mostFrames = 20;

/** An entry with many calls may be higher than the window: brings the one in question into sight once it is drawn. */
function whenDrawn(scroller: HTMLElement | null, { seq, callId = "" }: ChatPlace): () => void {
  let frames = 0;
  let frame = requestAnimationFrame(look);
  function look(): void {
    const call = scroller?.querySelector(`[data-seq="${seq}"] [data-call="${CSS.escape(callId)}"]`);
    if (scroller && call) {
      const { top, bottom } = call.getBoundingClientRect();
      const bounds = scroller.getBoundingClientRect();
      if (top < bounds.top || bottom > bounds.bottom) call.scrollIntoView({ block: "center" });
    }
    if (++frames < mostFrames) frame = requestAnimationFrame(look);
  }
  return () => cancelAnimationFrame(frame);
}

type Place = RefObject<HTMLDivElement | null>;
type End = { readonly isAway: boolean; readonly jump: () => void; readonly leave: () => void };

/** A touch or a turn of the wheel goes on for so long. */
const swingMs = 800;

/** Tells whether it may be a person who scrolls. A scrollbar that is held says when it is taken, and not that it is. */
function watchHands(scroller: HTMLElement): () => boolean {
  let movedAt = Number.NEGATIVE_INFINITY;
  let isHeld = false;
  const onMove = () => {
    movedAt = performance.now();
  };
  const onHold = ({ buttons }: PointerEvent) => {
    isHeld = buttons > 0;
  };
  for (const type of ["wheel", "touchmove", "keydown"])
    scroller.addEventListener(type, onMove, { passive: true });
  for (const type of ["pointerdown", "pointermove", "pointerup"] as const)
    scroller.addEventListener(type, onHold, { passive: true });
  return () => isHeld || performance.now() - movedAt < swingMs;
}

function useEnd(scroller: Place, content: Place): End {
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
    const isByHand = watchHands(outer);
    function onScroll(): void {
      if (!outer) return;
      const isNear = outer.scrollHeight - outer.scrollTop - outer.clientHeight < nearPixels;
      // The list goes up too, when what it draws turns out smaller than it thought: only a person leaves the end.
      if (outer.scrollTop < top - 1 && isByHand()) isFollowing.current = false;
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
