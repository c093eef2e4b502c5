// Compiled by typed.test.mjs and never run: every parameter and every answer has a type.
import { MCPMemoryClient, type Entity, type QueryType } from "@polymnia/client";

export async function typed(client: MCPMemoryClient): Promise<unknown[]> {
  const stored = await client.memoryStore({ operation: "store_content", project_id: "p", content: "c" });
  const id: string = stored.content_id;
  const memory: string = (await client.memoryStore({ content: "c" })).memory_id;
  const found = await client.memoryRetrieve({ operation: "search_content", project_id: "p", query: "q" });
  const title: string | undefined = found.results[0]?.content.title;
  const kind: QueryType = "hybrid";
  // Lists of parameters may be read-only, lists of answers may be changed.
  const tags: readonly string[] = ["t"];
  await client.storeContent({ project_id: "p", content: "c", tags });
  const entities: readonly Entity[] = [{ name: "n", entityType: "t", observations: [] }];
  await client.createEntities({ entities });
  const graph = await client.readGraph();
  graph.entities[0]?.observations.push("more");
  await client.createEntities({ entities: graph.entities });
  return [id, memory, title, kind];
}
