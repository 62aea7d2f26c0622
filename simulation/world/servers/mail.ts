// A mail server that takes letters, or does not, or takes them and does not say so. What it has taken is kept.
import type { OpenMailServer } from '../../../src/platform/mail/mail-server.ts';
import type { Mail } from '../../checks/world.ts';
import type { Faults } from '../faults.ts';
import type { Scheduler } from '../scheduler.ts';

export type PostOffice = {
  /** For a node of that name. */
  serverOf(node: string): OpenMailServer;
  readonly taken: readonly Mail[];
};

/** Where letters are handed in; nothing listens there. */
export const mailSettings = { SMTP_URL: 'smtps://mail.example', SMTP_FROM: 'receipts@shop.example' };

export function openPostOffice(options: { scheduler: Scheduler; faults: Faults }): PostOffice {
  const { scheduler, faults } = options;
  const taken: Mail[] = [];
  return {
    taken,
    serverOf:
      (node) =>
      ({ timeoutMs }) => ({
        send: ({ id, to, text }) =>
          new Promise((resolve, reject) => {
            const fail = (why: string): void => {
              clearTimeout(timer);
              reject(new Error(`the mail server did not take the letter: ${why}`));
            };
            const hangsUpAtMs = scheduler.nowMs() + timeoutMs;
            const timer = setTimeout(() => fail('timeout'), timeoutMs);
            scheduler.wait({
              owner: node,
              what: `hands in ${id}`,
              run() {
                if (scheduler.nowMs() >= hangsUpAtMs) return;
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
