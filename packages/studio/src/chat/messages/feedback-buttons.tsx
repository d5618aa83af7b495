import type { Feedback } from "capstan";
import { MessageSquareText, ThumbsDown, ThumbsUp } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { useFeedback } from "../../data/feedback.ts";
import { runWithToast } from "../../shell/toasts.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { escapeBidi } from "../../ui/escape-text.ts";

type FeedbackButtonsProps = { readonly runId: string; readonly answer: string };

const ratings = [
  { rating: "up", label: "Good answer", Icon: ThumbsUp },
  { rating: "down", label: "Bad answer", Icon: ThumbsDown },
] as const;

/** Rates an answer, and opens the form for a note and a correction. */
export function FeedbackButtons({ runId, answer }: FeedbackButtonsProps): ReactNode {
  const feedback = useFeedback(({ byRun }) => byRun.get(runId));
  const send = useFeedback((state) => state.send);
  const [isOpen, setIsOpen] = useState(false);
  const { note, correction } = feedback ?? {};
  const rest = { ...(note !== undefined && { note }), ...(correction !== undefined && { correction }) };
  return (
    <>
      {ratings.map(({ rating, label, Icon }) => {
        const isOn = feedback?.rating === rating;
        return (
          <IconButton
            key={rating}
            label={label}
            className="size-7!"
            {...(isOn && { isOn })}
            onClick={() => runWithToast(() => send(runId, isOn ? rest : { ...rest, rating }))}
          >
            <Icon size={14} />
          </IconButton>
        );
      })}
      <IconButton label="Add a note or a correction" className="size-7!" onClick={() => setIsOpen(true)}>
        <MessageSquareText size={14} />
      </IconButton>
      <Dialog
        title="Feedback"
        description="What should be better? It is kept with the run."
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
      >
        <FeedbackForm runId={runId} answer={answer} feedback={feedback} onDone={() => setIsOpen(false)} />
      </Dialog>
    </>
  );
}

type FeedbackFormProps = FeedbackButtonsProps & {
  readonly feedback: Feedback | undefined;
  onDone(): void;
};

function FeedbackForm({ runId, answer, feedback, onDone }: FeedbackFormProps): ReactNode {
  const send = useFeedback((state) => state.send);
  const [note, setNote] = useState(feedback?.note ?? "");
  const [correction, setCorrection] = useState(feedback?.correction ?? "");
  function save(event: FormEvent): void {
    event.preventDefault();
    const { rating } = feedback ?? {};
    const given = {
      ...(rating && { rating }),
      ...(note.trim() && { note }),
      ...(correction.trim() && { correction }),
    };
    runWithToast(async () => {
      await send(runId, given);
      onDone();
    });
  }
  return (
    <form onSubmit={save} className="grid gap-4">
      <label className="grid gap-1 text-sm">
        Note
        <textarea
          rows={2}
          maxLength={10_000}
          value={note}
          onChange={({ target }) => setNote(target.value)}
          className="rounded-md border bg-paper px-3 py-2"
        />
      </label>
      <label className="grid gap-1 text-sm">
        Correct answer
        <textarea
          rows={5}
          maxLength={100_000}
          value={correction}
          onChange={({ target }) => setCorrection(target.value)}
          className="rounded-md border bg-paper px-3 py-2"
        />
      </label>
      <div className="flex flex-wrap justify-between gap-2">
        <Button
          kind="quiet"
          blockedBy={answer === "" && "There is no answer."}
          onClick={() => setCorrection(answer)}
        >
          Start from the answer
        </Button>
        <Button type="submit" kind="main">
          Save
        </Button>
      </div>
    </form>
  );
}

/** The note and the correction of a run, below its answer. */
export function FeedbackNote({ runId }: { readonly runId: string }): ReactNode {
  const feedback = useFeedback(({ byRun }) => byRun.get(runId));
  if (!feedback?.note && !feedback?.correction) return null;
  return (
    <div className="rounded-md border-l-2 border-accent bg-sunken px-3 py-2 text-sm [overflow-wrap:anywhere]">
      {feedback.note && <p className="whitespace-pre-wrap">{escapeBidi(feedback.note)}</p>}
      {feedback.correction && (
        <p className="whitespace-pre-wrap text-quiet">
          <span className="font-medium text-ink">Correct answer: </span>
          {escapeBidi(feedback.correction)}
        </p>
      )}
    </div>
  );
}
