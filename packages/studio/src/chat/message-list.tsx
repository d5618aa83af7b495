import { ArrowDown } from "lucide-react";
import { type ReactNode, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Virtualizer } from "virtua";

type MessageListProps = {
  readonly children: readonly ReactNode[];
  /** What is being said, and what waits: always drawn, below the rest. */
  readonly tail: ReactNode;
  /** Goes to the end whenever this changes. */
  readonly jumpOn: unknown;
};

/** The newest ones are there for the search of the browser and for screen readers, wherever one has scrolled to. */
const keptItems = 60;
/** So near the end counts as there. */
const nearPixels = 48;

/** The conversation, which follows its end as long as the person is there. Of long ones only what is near is drawn. */
export function MessageList({ children, tail, jumpOn }: MessageListProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const { isAway, jump } = useEnd(scroller, content);
  const { length } = children;
  const kept = useMemo(
    () => Array.from({ length: Math.min(length, keptItems) }, (_, at) => length - 1 - at).reverse(),
    [length],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the value says when
  useEffect(() => jump(), [jumpOn]);
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
          <Virtualizer scrollRef={scroller} startMargin={24} bufferSize={1200} keepMounted={kept}>
            {children}
          </Virtualizer>
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

type Place = RefObject<HTMLDivElement | null>;

function useEnd(scroller: Place, content: Place): { readonly isAway: boolean; readonly jump: () => void } {
  const isFollowing = useRef(true);
  const [isAway, setAway] = useState(false);
  const jump = useCallback(() => {
    isFollowing.current = true;
    setAway(false);
    const { current } = scroller;
    if (current) current.scrollTop = current.scrollHeight;
  }, [scroller]);
  useEffect(() => {
    const { current: outer } = scroller;
    const { current: inner } = content;
    if (!outer || !inner) return;
    let { scrollTop: top, scrollHeight: height } = outer;
    function onScroll(): void {
      if (!outer) return;
      const isNear = outer.scrollHeight - outer.scrollTop - outer.clientHeight < nearPixels;
      // Where the content has become smaller, the browser goes up; otherwise only a person does.
      const isShorter = outer.scrollHeight < height;
      if (outer.scrollTop < top - 1 && !isShorter) isFollowing.current = false;
      else if (isNear) isFollowing.current = true;
      top = outer.scrollTop;
      height = outer.scrollHeight;
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
  return { isAway, jump };
}
