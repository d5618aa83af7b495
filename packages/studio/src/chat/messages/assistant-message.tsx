import type { LiveView } from "capstan/client";
import { RotateCcw } from "lucide-react";
import { memo, type NamedExoticComponent, type ReactNode, useMemo } from "react";
import { turnKey } from "../../data/fact-index.ts";
import type { CitedSource } from "../../markdown/citation-chip.tsx";
import { Markdown } from "../../markdown/markdown.tsx";
import { steadyText } from "../../markdown/visible-text.ts";
import { IconButton } from "../../ui/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { CopyText } from "../../ui/copy-text.tsx";
import { useConversation } from "../conversation-context.ts";
import { AffectedLine } from "./affected-line.tsx";
import type { Item } from "./build-items.ts";
import { CallList } from "./call-list.tsx";
import { ReasoningFold } from "./reasoning-fold.tsx";

type AssistantItem = Extract<Item, { readonly type: "assistant" }>;
type AssistantMessageProps = {
  readonly item: AssistantItem;
  /** Of calls that run at this moment. */
  readonly progress?: LiveView["progress"] | undefined;
  /** Changes when a nested run has grown. */
  readonly nestedSeq?: number | undefined;
  /** Of the newest answer alone. */
  readonly onRetry?: (() => void) | undefined;
};

/** A turn of an agent that is over: what it thought, said and did. */
export const AssistantMessage: NamedExoticComponent<AssistantMessageProps> = memo(function AssistantMessage({
  item,
  progress,
  onRetry,
}: AssistantMessageProps): ReactNode {
  const { entry, isNamed, isAnswer } = item;
  const { index } = useConversation();
  const fact = index().messages.get(turnKey(entry.runId, entry.turn));
  const share = entry.reasoning.length / (entry.reasoning.length + entry.text.length || 1);
  return (
    <article aria-label={`${entry.agent} says`} className="group grid min-w-0 gap-3">
      {isNamed && <AgentName name={entry.agent} />}
      {entry.reasoning !== "" && (
        <ReasoningFold
          id={turnKey(entry.runId, entry.turn)}
          text={entry.reasoning}
          aboutMs={fact && fact.ms * share}
        />
      )}
      {entry.text !== "" && <CitedMarkdown text={entry.text} citations={entry.citations} />}
      <CallList calls={entry.calls} progress={progress} />
      {/* Of a turn that only answers, the answer says it. */}
      {entry.summary !== undefined && entry.calls.length > 0 && <WorkingNote text={entry.summary} />}
      {isAnswer && <AffectedLine affected={index().affected.get(entry.runId)} />}
      {isAnswer && entry.text !== "" && (
        <div
          className={classNames(
            "-ml-1.5 -mt-1.5 flex h-7 items-center",
            !onRetry && "opacity-0 focus-within:opacity-100 group-hover:opacity-100",
          )}
        >
          <CopyText label="Copy the answer" text={() => entry.text} />
          {onRetry && (
            <IconButton label="Answer again" className="size-7!" onClick={onRetry}>
              <RotateCcw size={14} />
            </IconButton>
          )}
        </div>
      )}
    </article>
  );
});

/** Who speaks. */
function AgentName({ name }: { readonly name: string }): ReactNode {
  return (
    <p className="flex items-center gap-2 text-xs font-medium text-accent">
      <span aria-hidden="true" className="size-1.5 rounded-full bg-accent" />
      {steadyText(name)}
    </p>
  );
}

/** What was done, in a few words: by a model, for people. */
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

/** Text with its sources: a click on a number shows the passage. */
export function CitedMarkdown({ text, citations, isStreaming = false }: CitedMarkdownProps): ReactNode {
  const { index, openSource } = useConversation();
  const sources = useMemo(
    () =>
      citations.map(({ n, id, title, url }): CitedSource => {
        const excerpt = index().fragments.get(id)?.content;
        return { n, title, ...(url !== undefined && { url }), ...(excerpt !== undefined && { excerpt }) };
      }),
    [citations, index],
  );
  function onCite(n: number): void {
    const cited = citations.find((citation) => citation.n === n);
    if (cited) openSource(cited);
  }
  return <Markdown text={text} citations={sources} onCite={onCite} isStreaming={isStreaming} />;
}
