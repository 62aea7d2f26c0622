// What the supervisor and its workers tell each other.

export type FromWorker =
  | { readonly mandate: 'serving'; readonly address: string }
  | { readonly mandate: 'renderMetrics'; readonly request: number };

export type FromSupervisor =
  /** All workers serve. */
  | { readonly mandate: 'complete' }
  /** Without a text, some worker did not answer. */
  | { readonly mandate: 'metrics'; readonly request: number; readonly text?: string };

/** The library of the metrics sends messages of its own. */
export function isOf<
  Message extends FromWorker | FromSupervisor,
  Kind extends Message['mandate'] = Message['mandate'],
>(message: unknown, kind: Kind): message is Message & { mandate: Kind } {
  return typeof message === 'object' && message !== null && 'mandate' in message && message.mandate === kind;
}
