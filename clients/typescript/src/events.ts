/** One event of a stream. */
export interface StreamEvent {
  id: string | undefined;
  data: string;
  retry: number | undefined;
}

/** The events of a `text/event-stream`, as they come. It ends when nothing comes for `silence` milliseconds. */
export async function* streamEvents(body: ReadableStream<Uint8Array>, silence: number): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let text = "";
  let id: string | undefined;
  let retry: number | undefined;
  let data: string[] = [];
  try {
    for (;;) {
      timer = setTimeout(() => void reader.cancel(new Error("the stream is silent")).catch(() => {}), silence);
      const { done, value } = await reader.read();
      clearTimeout(timer);
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const lines = text.split(/\r\n|\n|\r(?!$)/);
      text = lines.pop()!;
      for (const line of lines) {
        if (line === "") {
          if (data.length || id !== undefined) yield { id, data: data.join("\n"), retry };
          id = retry = undefined;
          data = [];
          continue;
        }
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        const content = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
        if (field === "data") data.push(content);
        else if (field === "id") id = content;
        else if (field === "retry" && /^\d+$/.test(content)) retry = Number(content);
      }
    }
  } finally {
    clearTimeout(timer);
    reader.cancel().catch(() => {});
  }
}
