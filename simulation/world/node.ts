// One node of the service, composed as in `mandate serve`, with the world's clock, database and network.
import type { InjectOptions } from 'fastify';
import { instantAt, type Clock } from '../../src/clock.ts';
import { buildService, type RunningService } from '../../src/app/compose.ts';
import { foundationOn, type Foundation } from '../../src/app/composition/foundation.ts';
import { readConfig } from '../../src/app/config.ts';
import { databaseOn } from '../../src/platform/database/database.ts';
import { randomIds } from '../../src/ids.ts';
import { openLog } from '../../src/platform/log.ts';
import type { WorldBank } from './servers/bank.ts';
import type { WorldDatabase } from './postgres/database.ts';
import { mailSettings, type PostOffice } from './servers/mail.ts';
import type { Receivers } from './servers/receivers.ts';
import type { Scheduler } from './scheduler.ts';
import type { Trace } from './trace.ts';

export type WorldNode = {
  readonly name: string;
  readonly foundation: Foundation;
  readonly service: RunningService;
  call(request: InjectOptions): Promise<{ status: number; text: string }>;
};

const connections = { statements: 4, lookups: 2 };

const config = readConfig(
  {
    DATABASE_URL: 'postgresql://simulation',
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    REQUESTS_PER_SECOND: '0',
    CARD_TESTING_LIMITS: 'off',
    FAILED_AUTHENTICATIONS_PER_MINUTE: '0',
    TEMPLATE_INVOICES_PER_HOUR: '0',
    TEMPLATE_INVOICES_PER_HOUR_IN_ALL: '0',
    WEBHOOK_ADDRESSES: 'anywhere',
    ...mailSettings,
  },
  process.cwd(),
);

export async function startNode(options: {
  name: string;
  skewMs: number;
  scheduler: Scheduler;
  database: WorldDatabase;
  bank: WorldBank;
  receivers: Receivers;
  postOffice: PostOffice;
  trace: Trace;
}): Promise<WorldNode> {
  const { name, skewMs, scheduler, database, bank, receivers, postOffice, trace } = options;
  const clock: Clock = { now: () => instantAt(Math.floor(scheduler.nowMs()) + skewMs) };
  const foundation = await foundationOn(
    {
      database: databaseOn({
        pool: database.poolOf(name, connections.statements),
        lookupPool: database.poolOf(name, connections.lookups),
        probePool: database.poolOf(name, 1),
      }),
      close: () => Promise.resolve(),
    },
    config,
    openLog({
      level: 'warn',
      human: false,
      destination: { write: (line) => trace.add(warningIn(name, line)) },
    }),
    {
      clock,
      ids: randomIds,
      network: {
        openLink: bank.linkOf(name),
        openSender: receivers.senderOf(name),
        openMailServer: postOffice.serverOf(name),
      },
    },
  );
  const service = buildService(foundation);
  await service.app.ready();
  return {
    name,
    foundation,
    service,
    async call(request) {
      const answer = await service.app.inject(request);
      return { status: answer.statusCode, text: answer.payload };
    },
  };
}

/** A log line without what differs between machines. */
function warningIn(node: string, line: string): string {
  const { msg, err } = JSON.parse(line) as { msg: string; err?: { message: string } };
  return `  ${node} warns: ${msg}${err ? ` (${err.message})` : ''}`;
}
