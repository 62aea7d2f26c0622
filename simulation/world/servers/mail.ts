// A mail server that accepts emails, rejects them, or accepts them without a response. It keeps what it accepted.
import type { OpenMailServer } from '../../../src/platform/mail/mail-server.ts';
import type { Mail } from '../../checks/world.ts';
import type { Faults } from '../faults.ts';
import type { Scheduler } from '../scheduler.ts';

export type PostOffice = {
  /** The mail server as that node reaches it. */
  serverOf(node: string): OpenMailServer;
  readonly taken: readonly Mail[];
};

/** The address of the mail server, where nothing listens. */
export const mailSettings = { SMTP_URL: 'smtps://mail.example', SMTP_FROM: 'receipts@shop.example' };

/** Of a payer whose mail server rejects each email once, as it does with senders it does not know. */
export const greylisted = 'greylisted@example.com';

export function openPostOffice(options: { scheduler: Scheduler; faults: Faults }): PostOffice {
  const { scheduler, faults } = options;
  const taken: Mail[] = [];
  const rejected = new Set<string>();
  return {
    taken,
    serverOf:
      (node) =>
      ({ timeoutMs }) => ({
        send: ({ id, to, text }) =>
          new Promise((resolve, reject) => {
            const fail = (why: string): void => {
              clearTimeout(timer);
              reject(new Error(`the mail server did not take the email: ${why}`));
            };
            const hangsUpAtMs = scheduler.nowMs() + timeoutMs;
            const timer = setTimeout(() => fail('timeout'), timeoutMs);
            scheduler.wait({
              owner: node,
              what: `hands in ${id}`,
              run() {
                if (scheduler.nowMs() >= hangsUpAtMs) return;
                if (to === greylisted && !rejected.has(id)) {
                  rejected.add(id);
                  return fail('451');
                }
                if (faults.happens('mail server fails')) return fail('451');
                taken.push({ id, to, text });
                if (faults.happens('mail server takes it and does not answer')) return;
                clearTimeout(timer);
                resolve({ taken: true });
              },
            });
          }),
      }),
  };
}
