// A fast webhook receiver in its own process that counts what it receives.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export type WebhookReceiver = {
  readonly url: string;
  received(): Promise<number>;
  untilReceived(wanted: number): Promise<void>;
  stop(): void;
};

const pollMs = 20;

export async function openWebhookReceiver(): Promise<WebhookReceiver> {
  const child = fork(
    fileURLToPath(new URL('../../test/support/receivers/receiver-child.ts', import.meta.url)),
    {
      execArgv: ['--import', 'tsx'],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    },
  );
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  const { port } = JSON.parse(line.toString()) as { port: number };
  const received = async (): Promise<number> => {
    child.send('received');
    const [answer] = (await once(child, 'message')) as [{ received: number }];
    return answer.received;
  };
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    received,
    async untilReceived(wanted) {
      while ((await received()) < wanted) await sleep(pollMs);
    },
    stop: () => void child.kill(),
  };
}
