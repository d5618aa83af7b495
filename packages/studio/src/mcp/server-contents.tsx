import type { Json } from "capstan";
import type { McpFailure, McpPrompt, McpResource } from "capstan/client";
import { type ReactNode, useState } from "react";
import { client } from "../data/client.ts";
import { useRequest } from "../data/use-request.ts";
import { TextField } from "../pages/agent-fields.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { formatJsonText, JsonText } from "../ui/json-text.tsx";
import { ErrorMessage, Loading } from "../ui/state.tsx";

type ServerProps = { readonly server: string };

/** The resources of a server. Their content is data: it is shown, never rendered. */
export function ServerResources({ server }: ServerProps): ReactNode {
  const { value, error, retry } = useRequest(`resources ${server}`, () => client.mcp.resources(server));
  const [opened, setOpened] = useState<McpResource>();
  const resources = value && "resources" in value ? value.resources : undefined;
  return (
    <Listed answer={value} error={error} onRetry={retry} emptyText="No resources" items={resources}>
      {resources?.map((resource) => (
        <ListItem
          key={resource.uri}
          name={resource.title ?? resource.name}
          address={resource.uri}
          description={resource.description}
          action="Read"
          onAction={() => setOpened(resource)}
        />
      ))}
      {opened && (
        <Dialog
          title={escapeInvisible(opened.title ?? opened.name)}
          isOpen
          onClose={() => setOpened(undefined)}
          placement="side"
        >
          <Contents request={() => client.mcp.readResource(server, opened.uri)} field="contents" />
        </Dialog>
      )}
    </Listed>
  );
}

/** The prompts of a server, and their messages for some arguments. */
export function ServerPrompts({ server }: ServerProps): ReactNode {
  const { value, error, retry } = useRequest(`prompts ${server}`, () => client.mcp.prompts(server));
  const [opened, setOpened] = useState<McpPrompt>();
  const prompts = value && "prompts" in value ? value.prompts : undefined;
  return (
    <Listed answer={value} error={error} onRetry={retry} emptyText="No prompts" items={prompts}>
      {prompts?.map((prompt) => (
        <ListItem
          key={prompt.name}
          name={prompt.title ?? prompt.name}
          description={prompt.description}
          action="Show"
          onAction={() => setOpened(prompt)}
        />
      ))}
      {opened && (
        <Dialog
          title={escapeInvisible(opened.title ?? opened.name)}
          isOpen
          onClose={() => setOpened(undefined)}
          placement="side"
        >
          <PromptMessages server={server} prompt={opened} />
        </Dialog>
      )}
    </Listed>
  );
}

type ListedProps = {
  readonly answer: object | undefined;
  readonly error: string | undefined;
  readonly items: readonly object[] | undefined;
  readonly emptyText: string;
  readonly onRetry: () => void;
  readonly children: ReactNode;
};

function Listed({ answer, error, items, emptyText, onRetry, children }: ListedProps): ReactNode {
  const failure = error ?? (answer as Partial<McpFailure> | undefined)?.error?.message;
  if (failure !== undefined) return <ErrorMessage message={escapeBidi(failure)} onRetry={onRetry} />;
  if (!items) return <Loading />;
  if (items.length === 0) return <p className="text-sm text-faint">{emptyText}</p>;
  return <ul className="grid gap-3">{children}</ul>;
}

type ListItemProps = {
  readonly name: string;
  readonly address?: string;
  readonly description?: string | undefined;
  readonly action: string;
  readonly onAction: () => void;
};

/** Names and descriptions are the server's words. */
function ListItem({ name, address, description, action, onAction }: ListItemProps): ReactNode {
  return (
    <li className="flex items-start justify-between gap-3">
      <div className="min-w-0">
        <p className="text-sm font-medium [overflow-wrap:anywhere]">{escapeInvisible(name)}</p>
        {address !== undefined && (
          <p className="font-mono text-xs text-quiet [overflow-wrap:anywhere]">{escapeInvisible(address)}</p>
        )}
        {description !== undefined && (
          <p className="line-clamp-3 text-sm text-quiet [overflow-wrap:anywhere]">
            {escapeBidi(description)}
          </p>
        )}
      </div>
      <Button size="small" onClick={onAction}>
        {action}
        <span className="sr-only"> {escapeInvisible(name)}</span>
      </Button>
    </li>
  );
}

function PromptMessages({ server, prompt }: ServerProps & { readonly prompt: McpPrompt }): ReactNode {
  const [input, setInput] = useState<Readonly<Record<string, string>>>({});
  const [sent, setSent] = useState((prompt.arguments ?? []).length === 0 ? 1 : 0);
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        setSent(sent + 1);
      }}
    >
      {prompt.arguments?.map(({ name, description, required }) => (
        <TextField
          key={name}
          label={`${escapeInvisible(name)}${required ? " (required)" : ""}`}
          hint={description && escapeBidi(description)}
          value={input[name] ?? ""}
          onValue={(value) => setInput({ ...input, [name]: value })}
        />
      ))}
      {(prompt.arguments ?? []).length > 0 && (
        <Button kind="main" type="submit" className="justify-self-start">
          Show messages
        </Button>
      )}
      {sent > 0 && (
        <Contents
          key={sent}
          request={() => client.mcp.getPrompt(server, prompt.name, input)}
          field="messages"
        />
      )}
    </form>
  );
}

type ContentsProps = {
  readonly request: () => Promise<object>;
  readonly field: "contents" | "messages";
};

function Contents({ request, field }: ContentsProps): ReactNode {
  const { value, error, retry } = useRequest("contents", request);
  const failure = error ?? (value as Partial<McpFailure> | undefined)?.error?.message;
  if (failure !== undefined) return <ErrorMessage message={escapeBidi(failure)} onRetry={retry} />;
  if (!value) return <Loading />;
  const items = (value as Partial<Record<string, readonly Json[]>>)[field] ?? [];
  return (
    <div className="grid gap-3">
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the items do not change
        <JsonText key={index} {...formatContent(item)} />
      ))}
    </div>
  );
}

/** The text of a resource or a message, or all of it as JSON. */
function formatContent(item: Json): { readonly label: string; readonly text: string } {
  const { text, mimeType, role, content } = Object(item) as {
    readonly text?: unknown;
    readonly mimeType?: unknown;
    readonly role?: unknown;
    readonly content?: { readonly text?: unknown };
  };
  if (typeof text === "string") return { label: escapeInvisible(String(mimeType ?? "text")), text };
  if (typeof role === "string" && typeof content?.text === "string")
    return { label: escapeInvisible(role), text: content.text };
  return { label: "Content", text: formatJsonText(item) };
}
