// What reaches the simulated bank over HTTP, in order, and messages that it does not do at first.
import type { OperationMessage } from '../../../src/acquiring/adapters/http/messages.ts';
import type { OperationProcessor } from '../../../src/sandbox/bank/operation-processor.ts';

export type Heard = { readonly id: string; readonly message: OperationMessage };

export function listeningBank() {
  const heard: Heard[] = [];
  let refusals = 0;
  return {
    heard,
    /** The kind that is asked about, without the rest of the union. */
    ofKind: <Kind extends OperationMessage['kind']>(kind: Kind) =>
      heard.flatMap(({ message }) =>
        message.kind === kind ? [message as OperationMessage & { readonly kind: Kind }] : [],
      ),
    /** So many messages are answered with an error, and not done. Mandate sends them again. */
    refuseNext: (count: number) => void (refusals = count),
    employ: (processor: OperationProcessor): OperationProcessor => ({
      ...processor,
      async perform(id, read) {
        if ('message' in read) heard.push({ id, message: read.message });
        if (refusals === 0) return processor.perform(id, read);
        refusals -= 1;
        return { status: 503, body: { error: 'notDone' } };
      },
    }),
  };
}
