/** What an error of the server carries beside its message. */
export interface ErrorData {
  error_type?: string;
  details?: Record<string, any>;
  suggestions?: string[];
  documentation_url?: string;
  /** Seconds after which the call may be made again. */
  retry_after?: number;
  [key: string]: any;
}

/** What every error of this package is; by itself: a code that has no type of its own. */
export class MCPMemoryError extends Error {
  /** The type as a word, the same in the clients of all languages. */
  readonly kind: string = "error";
  /** The code of the server's error; 0 where there is none. */
  readonly code: number;
  readonly data: ErrorData | undefined;

  constructor(message: string, code = 0, data?: ErrorData, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.data = data;
  }

  override get name(): string {
    return this.constructor.name;
  }
}

/** 400: the request is malformed, or names an operation that does not exist. */
export class BadRequestError extends MCPMemoryError {
  override readonly kind = "bad_request";
}

/** 401: the server needs a key, or does not know this one. */
export class UnauthorizedError extends MCPMemoryError {
  override readonly kind = "unauthorized";
}

/** 403: the key, or a rule of the server, does not allow it. */
export class ForbiddenError extends MCPMemoryError {
  override readonly kind = "forbidden";
}

/** 404: there is no such content, memory or session; -32002: there is no such resource. */
export class NotFoundError extends MCPMemoryError {
  override readonly kind = "not_found";
}

/** 409: something that exists stands in the way. */
export class ConflictError extends MCPMemoryError {
  override readonly kind = "conflict";
}

/** 422: a parameter does not fit. */
export class ValidationError extends MCPMemoryError {
  override readonly kind = "validation_error";
}

/**
 * 429 and 503: more requests than the server takes. The client waits as long as the server asks, unless that would
 * outlast a timeout given with the call.
 */
export class RateLimitedError extends MCPMemoryError {
  override readonly kind = "rate_limited";

  /** Seconds after which the server takes calls again, where it said so. */
  get retryAfter(): number | undefined {
    const seconds = Number(this.data?.retry_after ?? this.data?.details?.["retry_after"] ?? NaN);
    return seconds >= 0 ? seconds : undefined;
  }
}

/** 500: the server failed. */
export class InternalError extends MCPMemoryError {
  override readonly kind = "internal_error";
}

/** 502: something the server depends on cannot be reached or is not installed. */
export class ServiceUnavailableError extends MCPMemoryError {
  override readonly kind = "service_unavailable";
}

/** 504: the server gave up waiting, or there was no answer within the call's timeout. */
export class CallTimeoutError extends MCPMemoryError {
  override readonly kind = "timeout";
}

/** -32800: the server withdrew the call. One that its `AbortSignal` ends rejects with the signal's reason instead. */
export class CancelledError extends MCPMemoryError {
  override readonly kind = "cancelled";
}

/** A tool of a dialect without codes answered that it failed. `data` is its answer, where that is JSON. */
export class ToolError extends MCPMemoryError {
  override readonly kind = "tool_error";
}

/** The server cannot be reached, or the connection was lost and it is unknown whether the call was done. */
export class ConnectionFailedError extends MCPMemoryError {
  override readonly kind = "connection_error";
  /** Whether trying again is pointless. */
  readonly final: boolean;
  declare readonly data: ErrorData & { suggestions: string[] };

  constructor(message: string, options: ErrorOptions & { final?: boolean; suggestions?: string[] } = {}) {
    const { cause, final = false, suggestions = [] } = options;
    const data = { error_type: "connection_error", details: {}, suggestions };
    super(message, 0, data, cause === undefined ? undefined : { cause });
    this.final = final;
  }
}

const TYPES: Record<number, new (message: string, code: number, data?: ErrorData) => MCPMemoryError> = {
  400: BadRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  422: ValidationError,
  429: RateLimitedError,
  500: InternalError,
  502: ServiceUnavailableError,
  503: RateLimitedError,
  504: CallTimeoutError,
  [-32002]: NotFoundError,
  [-32800]: CancelledError,
};

/** An error of the server as the type for its code. */
export function errorOf(error: { code: number; message: string; data?: ErrorData }): MCPMemoryError {
  return new (TYPES[error.code] ?? MCPMemoryError)(error.message, error.code, error.data);
}
