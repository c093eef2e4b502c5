declare module "ws" {
  export class WebSocket {
    constructor(url: string, protocol: string, options: Record<string, unknown>);
    onopen: ((event: any) => void) | null;
    onmessage: ((event: any) => void) | null;
    onclose: ((event: any) => void) | null;
    onerror: ((event: any) => void) | null;
    hold?: (busy: boolean) => void; // ours
    once(name: "upgrade", listener: (response: { socket: { ref(): void; unref(): void } }) => void): void;
    send(text: string): void;
    close(code?: number): void;
  }
}
