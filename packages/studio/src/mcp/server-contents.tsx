import type { Json } from "capstan";
import type { McpFailure, McpPrompt, McpResource } from "capstan/client";
import { type ReactNode, useState } from "react";
import { client } from "../data/client.ts";
import { useRequest } from "../data/use-request.ts";
import { TextField } from "../pages/agent-fields.tsx";
import { Button } from "../ui/button.tsx";
import { CodeText } from "../ui/code-text.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { formatJsonText, JsonText } from "../ui/json-text.tsx";
import { ErrorMessage, Loading } from "../ui/state.tsx";

type ServerProps = { readonly server: string };

/** The resources of a server. Their content is data: it is shown, never rendered. */
export function ServerResources({ server }: ServerProps): ReactNode {
  return (
    <ItemList<McpResource>
      requestKey={`resources ${server}`}
      load={async () => {
        const answer = await client.mcp.resources(server);
        return "resources" in answer ? answer.resources : answer;
      }}
      emptyText="No resources"
      action="Read"
      renderItem={({ uri }) => (
        <Contents request={() => client.mcp.readResource(server, uri)} field="contents" />
      )}
    />
  );
}

/** The prompts of a server, and their messages for some arguments. */
export function ServerPrompts({ server }: ServerProps): ReactNode {
  return (
    <ItemList<McpPrompt>
      requestKey={`prompts ${server}`}
      load={async () => {
        const answer = await client.mcp.prompts(server);
        return "prompts" in answer ? answer.prompts : answer;
      }}
      emptyText="No prompts"
      action="Show"
      renderItem={(prompt) => <PromptMessages server={server} prompt={prompt} />}
    />
  );
}

type ServerItem = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly uri?: string;
};

type ItemListProps<Item extends ServerItem> = {
  readonly requestKey: string;
  readonly load: () => Promise<readonly Item[] | McpFailure>;
  readonly emptyText: string;
  readonly action: string;
  /** Renders the item that the user has opened. */
  readonly renderItem: (item: Item) => ReactNode;
};

function ItemList<Item extends ServerItem>(props: ItemListProps<Item>): ReactNode {
  const { value, error, retry } = useRequest(props.requestKey, props.load);
  const [opened, setOpened] = useState<Item>();
  const failure = error ?? (value && "error" in value ? value.error.message : undefined);
  if (failure !== undefined) return <ErrorMessage message={escapeBidi(failure)} onRetry={retry} />;
  if (!value || "error" in value) return <Loading />;
  if (value.length === 0) return <p className="text-sm text-faint">{props.emptyText}</p>;
  return (
    <ul className="grid grid-cols-1 gap-3">
      {value.map((item) => (
        <ListItem
          key={item.uri ?? item.name}
          item={item}
          action={props.action}
          onAction={() => setOpened(item)}
        />
      ))}
      {opened && (
        <Dialog
          title={escapeInvisible(opened.title ?? opened.name)}
          isOpen
          onClose={() => setOpened(undefined)}
          placement="side"
        >
          {props.renderItem(opened)}
        </Dialog>
      )}
    </ul>
  );
}

type ListItemProps = {
  readonly item: ServerItem;
  readonly action: string;
  readonly onAction: () => void;
};

/** Names and descriptions come from the server. */
function ListItem({ item, action, onAction }: ListItemProps): ReactNode {
  const { uri, description, title = item.name } = item;
  return (
    <li className="flex items-start justify-between gap-3">
      <div className="min-w-0">
        <p className="text-sm font-medium [overflow-wrap:anywhere]">{escapeInvisible(title)}</p>
        {uri !== undefined && (
          <p className="font-mono text-xs text-quiet [overflow-wrap:anywhere]">{escapeInvisible(uri)}</p>
        )}
        {description !== undefined && (
          <p className="line-clamp-3 text-sm text-quiet [overflow-wrap:anywhere]">
            <CodeText text={description} />
          </p>
        )}
      </div>
      <Button size="small" onClick={onAction}>
        {action}
        <span className="sr-only"> {escapeInvisible(title)}</span>
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
        <JsonText key={index} {...toLabeledText(item)} />
      ))}
    </div>
  );
}

/** The text of a resource or a message, or all of it as JSON. */
function toLabeledText(item: Json): { readonly label: string; readonly text: string } {
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
