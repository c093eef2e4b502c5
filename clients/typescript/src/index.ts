/** A client of Polymnia, a memory server over MCP. This entry uses nothing but what every runtime has. */
export { MCPMemoryClient, resultOf, type ClientOptions, type ToolResult } from "./client.js";
export type { CallOptions, Progress, ResourceUpdate, Subscription } from "./connection.js";
export {
  BadRequestError,
  CallTimeoutError,
  CancelledError,
  ConflictError,
  ConnectionFailedError,
  ForbiddenError,
  InternalError,
  MCPMemoryError,
  NotFoundError,
  RateLimitedError,
  ServiceUnavailableError,
  ToolError,
  UnauthorizedError,
  ValidationError,
  type ErrorData,
} from "./errors.js";
export * from "./generated/operations.js";
export type { Link, LinkEvents, Message, Transport } from "./transport.js";
