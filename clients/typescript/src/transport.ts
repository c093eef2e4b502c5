/** Any JSON-RPC message. */
export interface Message {
  jsonrpc: "2.0";
  id?: number | string | null;
  method?: string;
  params?: any;
  result?: any;
  error?: { code: number; message: string; data?: any };
}

/** A way to the server that is open. */
export interface Link {
  /** Gives a message to the server; `id` is that of a request. */
  send(text: string, id?: number): void;
  /** Nobody waits for the answer to this request any more. */
  drop?(id: number): void;
  /** Hears what the server says unasked, or no more, where that takes a stream of its own. */
  listen?(wanted: boolean): void;
  /** Says whether the process has to stay alive for this link. */
  hold?(busy: boolean): void;
  close(): Promise<void> | void;
}

/** What a link tells the connection that uses it. */
export interface LinkEvents {
  message(message: Message): void;
  /** A request got no answer; `reached` is false where the server certainly has not taken it. */
  failed(id: number, error: Error, reached: boolean): void;
  /** The link is gone. The server certainly has not taken the request `unseen`. */
  closed(error: Error, unseen?: number): void;
}

/** Opens links to one server. */
export interface Transport {
  readonly address: string;
  open(events: LinkEvents, signal: AbortSignal): Promise<Link>;
}
