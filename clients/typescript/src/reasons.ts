/** Why there is no connection, in words, and whether another attempt could end otherwise. */
import { ConnectionFailedError, type ErrorData } from "./errors.js";

const CERTIFICATE = /CERT|^UNABLE_TO_|certificate/;
const NO_TLS = /wrong version number|WRONG_VERSION_NUMBER|packet length too long|PACKET_LENGTH_TOO_LONG/;
const BLOCKED = /^bad port$/; // of fetch, which connects to no port of certain other protocols
const NOT_SENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ConnectionRefused)$/;

/** The error at the bottom: `fetch` wraps it, and so does a host with several addresses. */
function rootOf(error: any): any {
  for (;;) {
    const below = error?.cause ?? error?.errors?.[0];
    if (below === null || typeof below !== "object") return error;
    error = below;
  }
}

/** The code the system or TLS gave, such as ECONNREFUSED; undefined where the runtime hides it, as browsers do. */
export function codeOf(error: unknown): string | undefined {
  const { code } = rootOf(error) ?? {};
  return typeof code === "string" ? code : undefined;
}

/** Whether a request certainly did not leave: nobody listens there. Browsers do not say. */
export function isNotSent(error: unknown): boolean {
  return NOT_SENT.test(codeOf(error) ?? "");
}

/** The error for an address that cannot be reached. */
export function unreachable(address: string, cause: unknown, what = "Cannot connect to"): ConnectionFailedError {
  const code = codeOf(cause) ?? "";
  const text = String(rootOf(cause)?.message ?? "");
  let why = text.includes(code) ? text : text ? `${text} (${code})` : code;
  const suggestions: string[] = [];
  const isCertificate = CERTIFICATE.test(code) || CERTIFICATE.test(text);
  const isPlain = NO_TLS.test(code) || NO_TLS.test(text);
  if (isCertificate) {
    why = `its certificate is not accepted: ${why}`;
    suggestions.push("Where the certificate is of your own authority, name its file in NODE_EXTRA_CA_CERTS");
  } else if (isPlain) {
    why = `it does not speak TLS: ${why}`;
    suggestions.push("Use ws:// or http:// where the server has no TLS");
  } else if (BLOCKED.test(text)) {
    why = "fetch does not connect to this port";
    suggestions.push("Let the server listen at another port, or use ws://");
  } else if (code === "ECONNREFUSED") {
    suggestions.push("Start the server with: polymnia serve");
  }
  const final = isCertificate || isPlain || BLOCKED.test(text);
  const hidden = "the runtime does not say why (browsers hide it from pages; their console may tell)";
  return new ConnectionFailedError(`${what} ${address}: ${why || hidden}`, { cause, final, suggestions });
}

/** The error for an address where something answers that does not speak MCP. */
export function noEndpoint(address: string, response: Response): ConnectionFailedError {
  const { host, protocol } = new URL(address);
  const secure = protocol === "https:" || protocol === "wss:" ? "s" : "";
  const status = `${response.status} ${response.statusText}`.trim();
  const location = response.headers.get("location");
  const answered = `${address} answered ${status}${location ? ` (to ${location})` : ""}`;
  const paths = "A Polymnia server has /ws for WebSocket and /mcp for HTTP";
  return new ConnectionFailedError(`${answered}, which is no answer of an MCP endpoint. ${paths}.`, {
    final: true,
    suggestions: [`Use ws${secure}://${host}/ws or http${secure}://${host}/mcp`],
  });
}

/** Whether something between here and the server may answer otherwise soon. */
export function isPassing(status: number): boolean {
  return (status >= 500 && status !== 501) || status === 408 || status === 425 || status === 429;
}

/** The error for an answer that will pass: a server that starts, or a proxy that does not find it. */
export function passing(address: string, response: Response): ConnectionFailedError {
  return new ConnectionFailedError(`${address} answered ${response.status} ${response.statusText}`.trim());
}

/** An error of the server for a status that came without one. */
export function refused(address: string, response: Response): { code: number; message: string; data: ErrorData } {
  const { status, statusText } = response;
  const data = { error_type: "error", details: { status }, suggestions: [] };
  return { code: status, message: `${address} answered ${status} ${statusText}`.trim(), data };
}

/** Whether a status, in answer to a handshake, says that there is no MCP endpoint at this address. */
export function isElsewhere(status: number): boolean {
  return status < 400 ? status >= 300 : [404, 405, 406, 410, 415, 426, 501].includes(status);
}
