import type { LiveView } from "capstan/client";
import { RotateCcw } from "lucide-react";
import {
  type ComponentProps,
  lazy,
  memo,
  type NamedExoticComponent,
  type ReactNode,
  Suspense,
  useMemo,
} from "react";
import { useAbout } from "../../data/about.ts";
import { formatAgentName, isAppAgent } from "../../data/agents.ts";
import type { CitedSource } from "../../markdown/citation-chip.tsx";
import { Markdown } from "../../markdown/markdown.tsx";
import { IconButton } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { escapeBidi } from "../../ui/escape-text.ts";
import { useConversation } from "../conversation-context.ts";
import { AffectedLine } from "./affected-line.tsx";
import type { Item } from "./build-items.ts";
import { CallList } from "./call-list.tsx";
import { CopyRunLink } from "./copy-run-link.tsx";
import { FeedbackButtons, FeedbackNote } from "./feedback-buttons.tsx";
import { MediaList } from "./media-list.tsx";
import { getTurnKey, ReasoningFold } from "./reasoning-fold.tsx";

type AssistantItem = Extract<Item, { readonly type: "assistant" }>;
type AssistantMessageProps = {
  readonly item: AssistantItem;
  /** Progress of running calls. */
  readonly progress?: LiveView["progress"] | undefined;
  /** Changes when a nested run does. */
  readonly nestedKey?: unknown;
  /** Only for the newest answer. */
  readonly onRetry?: (() => void) | undefined;
};

/** A finished turn: reasoning, text and calls. */
export const AssistantMessage: NamedExoticComponent<AssistantMessageProps> = memo(function AssistantMessage({
  item,
  progress,
  onRetry,
}: AssistantMessageProps): ReactNode {
  const { entry, isNamed, isAnswer, passedOnBy } = item;
  const { getView } = useConversation();
  const reasoningShare = entry.reasoning.length / (entry.reasoning.length + entry.text.length || 1);
  return (
    <article aria-label={`Message from ${formatAgentName(entry.agent)}`} className="group grid min-w-0 gap-3">
      {isNamed && <AgentName name={entry.agent} />}
      {entry.reasoning !== "" && (
        <ReasoningFold
          id={getTurnKey(entry.runId, entry.turn)}
          text={entry.reasoning}
          estimatedMs={entry.ms && entry.ms * reasoningShare}
        />
      )}
      {passedOnBy !== undefined ? (
        <p className="text-sm text-quiet">
          Returned its answer to {escapeBidi(formatAgentName(passedOnBy))}, who passes it on below.
        </p>
      ) : (
        entry.text !== "" && <CitedMarkdown text={entry.text} citations={entry.citations} />
      )}
      <MediaList media={entry.media} />
      <CallList
        calls={entry.calls}
        progress={progress}
        runId={entry.runId}
        isOfApp={isAppAgent(entry.agent)}
      />
      {/* A turn without calls needs no note. */}
      {entry.summary !== undefined && entry.calls.length > 0 && <WorkingNote text={entry.summary} />}
      {isAnswer && <AffectedLine affected={getView().runs.get(entry.runId)?.affected} />}
      {isAnswer && (entry.text !== "" || entry.media.length > 0) && (
        <div
          className={classNames(
            "-ml-1.5 -mt-1.5 flex h-7 items-center",
            !onRetry &&
              "opacity-0 focus-within:opacity-100 group-hover:opacity-100 has-aria-pressed:opacity-100 [@media(hover:none)]:opacity-100",
          )}
        >
          {entry.text !== "" && <CopyButton label="Copy answer" text={() => entry.text} />}
          {entry.text !== "" && <SaveAnswer runId={entry.runId} answer={entry.text} />}
          <CopyRunLink runId={entry.runId} />
          {onRetry && (
            <IconButton label="Regenerate" className="size-7!" onClick={onRetry}>
              <RotateCcw size={14} />
            </IconButton>
          )}
          <FeedbackButtons runId={entry.runId} answer={entry.text} />
        </div>
      )}
      {isAnswer && <FeedbackNote runId={entry.runId} />}
    </article>
  );
});

const SaveToDataset = lazy(async () => ({
  default: (await import("../../evals/save-to-dataset.tsx")).SaveToDataset,
}));

/** Datasets are for admins only. */
function SaveAnswer(props: ComponentProps<typeof SaveToDataset>): ReactNode {
  const isAdmin = useAbout(({ about }) => about?.isAdmin === true);
  if (!isAdmin) return null;
  return (
    <Suspense>
      <SaveToDataset {...props} />
    </Suspense>
  );
}

function AgentName({ name }: { readonly name: string }): ReactNode {
  return (
    <p className="flex items-center gap-2 text-xs font-medium text-accent">
      <span aria-hidden="true" className="size-1.5 rounded-full bg-accent" />
      {escapeBidi(formatAgentName(name))}
    </p>
  );
}

/** Summary of a turn, written by a model. */
export function WorkingNote({
  text,
  isLive = false,
}: {
  readonly text: string;
  readonly isLive?: boolean;
}): ReactNode {
  return (
    <div className="border-l-2 pl-3 text-sm text-quiet italic">
      <Markdown text={text} isStreaming={isLive} />
    </div>
  );
}

type CitedMarkdownProps = {
  readonly text: string;
  readonly citations: AssistantItem["entry"]["citations"];
  readonly isStreaming?: boolean;
};

/** Markdown with citations that open their source. */
export function CitedMarkdown({ text, citations, isStreaming = false }: CitedMarkdownProps): ReactNode {
  const { getView, openSource } = useConversation();
  const sources = useMemo(
    () =>
      citations.map(({ n, id, title, url }): CitedSource => {
        const excerpt = getView().fragments.get(id)?.content;
        return { n, title, ...(url !== undefined && { url }), ...(excerpt !== undefined && { excerpt }) };
      }),
    [citations, getView],
  );
  function onCite(n: number): void {
    const citation = citations.find((citation) => citation.n === n);
    if (citation) openSource(citation);
  }
  return <Markdown text={text} citations={sources} onCite={onCite} isStreaming={isStreaming} />;
}
