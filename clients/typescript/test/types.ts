// Compiled by types.test.mjs and never run: what the types promise.
import {
  ConnectionFailedError,
  MCPMemoryClient,
  NotFoundError,
  RateLimitedError,
  resultOf,
  type StoreContentParams,
} from "@polymnia/client";
import { StdioTransport } from "@polymnia/client/stdio";

export async function promises(signal: AbortSignal): Promise<void> {
  await using client = new MCPMemoryClient({ endpoint: "ws://localhost:9080/ws", apiKey: "key", timeout: 1000 });
  const stored = await client.memoryStore({ operation: "store_content", project_id: "p", content: "c", tags: ["t"] });
  const success: boolean = stored.success;
  const parameters: StoreContentParams = { project_id: "p", content: "c" };
  await client.storeContent(parameters, { signal, onProgress: ({ progress, total }) => void [progress, total] });
  const memory: string = (await client.memoryStore({ content: "c" })).memory_id;
  await client.searchContent({ project_id: "p", query: "q", query_type: "hybrid", options: { limit: 5 } });
  const names: string[] = (await client.openNodes({ names: ["n"] })).notFound;
  // @ts-expect-error: content is required
  await client.storeContent({ project_id: "p" });
  // @ts-expect-error: there is no such kind of query
  await client.searchContent({ project_id: "p", query: "q", query_type: "telepathic" });
  // @ts-expect-error: there is no such parameter
  await client.createEntities({ entities: [], entitys: [] });
  // @ts-expect-error: there is no such operation
  await client.memoryRetrieve({ operation: "store_content", project_id: "p", content: "c" });
  const raw = await client.callTool("memory_get", { memory_id: "m" }, { raw: true, signal });
  const graph: string = await client.readResource("memory://knowledge-graph");
  void [raw.isError, graph];
  const subscription = await client.subscribe("n", ({ uri }) => void uri);
  await subscription.unsubscribe();
  try {
    await client.readGraph();
  } catch (error) {
    if (error instanceof RateLimitedError) void (error.retryAfter satisfies number | undefined);
    if (error instanceof ConnectionFailedError) void (error.data.suggestions satisfies string[]);
    if (error instanceof NotFoundError) void error.data?.suggestions;
  }
  void [success, memory, names, resultOf(stored)?.content, new MCPMemoryClient({ endpoint: new StdioTransport() })];
}
