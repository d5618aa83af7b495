import type { Fact } from "capstan";
import { ChevronLeft, ChevronRight, ChevronsLeft, ChevronsRight, Pause, Play } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { IconButton } from "../ui/button.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { stepByTurn } from "./replay-steps.ts";
import { type Playback, speeds } from "./use-playback.ts";

type ReplayControlsProps = {
  readonly playback: Playback;
  readonly facts: readonly Fact[];
  readonly total: number;
  readonly starts: readonly number[];
};

const time = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

/** Slider, playback and step buttons. */
export function ReplayControls({ playback, facts, total, starts }: ReplayControlsProps): ReactNode {
  const { count, isPlaying, speed, setSpeed, goTo, toggle } = playback;
  const now = facts[count - 1];
  const stepTurn = (step: 1 | -1) => goTo(stepByTurn(starts, count, step) ?? (step === 1 ? total : 0));
  useReplayKeys(playback, { total, stepTurn });
  return (
    <div className="grid gap-1 border-t bg-paper px-4 py-2.5">
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={now ? `Event ${count} of ${total}: ${now.type}` : "Before the first event"}
        min={0}
        max={total}
        value={count}
        onChange={({ target }) => goTo(target.valueAsNumber)}
        className="h-5 w-full accent-accent"
      />
      <div className="flex flex-wrap items-center gap-x-1 gap-y-1.5">
        <IconButton label="Previous turn" disabled={count === 0} onClick={() => stepTurn(-1)}>
          <ChevronsLeft size={16} />
        </IconButton>
        <IconButton label="Previous event" disabled={count === 0} onClick={() => goTo(count - 1)}>
          <ChevronLeft size={16} />
        </IconButton>
        <IconButton
          label={isPlaying ? "Pause" : "Play"}
          className="bg-accent-soft text-accent"
          onClick={toggle}
        >
          {isPlaying ? <Pause size={16} /> : <Play size={16} />}
        </IconButton>
        <IconButton label="Next event" disabled={count === total} onClick={() => goTo(count + 1)}>
          <ChevronRight size={16} />
        </IconButton>
        <IconButton label="Next turn" disabled={count === total} onClick={() => stepTurn(1)}>
          <ChevronsRight size={16} />
        </IconButton>
        <SelectField
          label="Speed"
          value={String(speed)}
          choices={speeds.map((option) => ({ value: String(option), label: `${option}×` }))}
          onChange={(value) => setSpeed(speeds.find((option) => String(option) === value) ?? 1)}
        />
        <p
          data-moment={count}
          className="ml-1 flex min-w-0 flex-1 gap-1.5 overflow-hidden text-xs text-quiet tabular-nums"
        >
          <span className="shrink-0">
            {count} of {total}
          </span>
          {now && <span className="truncate font-mono max-sm:hidden"> {now.type}</span>}
          {now && <span className="shrink-0 text-faint max-sm:hidden"> {time.format(now.at)}</span>}
        </p>
      </div>
    </div>
  );
}

type StepOptions = { readonly total: number; readonly stepTurn: (step: 1 | -1) => void };

/** Space plays, arrow keys step by event (with Shift by turn), Home and End jump to the ends. */
function useReplayKeys({ count, goTo, toggle }: Playback, { total, stepTurn }: StepOptions): void {
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (event.ctrlKey || event.metaKey || event.altKey || !isKeyFree(event.target, event.key)) return;
      const go = event.shiftKey ? { left: () => stepTurn(-1), right: () => stepTurn(1) } : undefined;
      const actions: Record<string, () => void> = {
        " ": toggle,
        ArrowLeft: go?.left ?? (() => goTo(count - 1)),
        ArrowRight: go?.right ?? (() => goTo(count + 1)),
        Home: () => goTo(0),
        End: () => goTo(total),
      };
      const action = actions[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    }
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [count, total, goTo, toggle, stepTurn]);
}

/** Whether the focused element leaves the key to the replay. */
function isKeyFree(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return true;
  if (target instanceof HTMLInputElement) return target.type === "range";
  if (/^(?:TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable) return false;
  return key !== " " || !target.closest("button, a, summary");
}
